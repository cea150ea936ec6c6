"""Run every gate and say in one line each how it went.

Owns the list of gates and how their outcome is shown. Refuses to know what a gate checks: each is a command
whose exit code decides. Flow: gates -> processes, two at a time -> one line each in order -> exit code.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


@dataclass(frozen=True, kw_only=True)
class Gate:
    """A check that needs no test run: a name to show and a command whose exit code decides."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a gate did: its exit code, all that it printed, and its wall time in seconds."""

    code: int
    output: str
    seconds: float


GATES = (
    Gate(name="site", command=("python", "scripts/site.py", "build")),
    Gate(name="types", command=("mypy",)),
    Gate(name="format", command=("ruff", "format", "--check", ".")),
    Gate(name="lint", command=("ruff", "check", ".")),
    Gate(name="imports", command=("lint-imports",)),
    Gate(name="rfc", command=("dsh-rfc", "check")),
    Gate(name="markdown", command=("rumdl", "check", "--no-cache", "--deny-config-warnings", ".")),
    Gate(name="index", command=("dsh-rfc", "index", "--check")),
    Gate(name="generated", command=("dsh-rfc", "generate", "--check")),
    Gate(name="surface", command=("python", "scripts/api_surface.py", "--check")),
)


def run(gate: Gate) -> Outcome:
    """Run one gate to its end; a command that cannot be started is a failed gate."""
    started = time.perf_counter()
    program, *arguments = gate.command
    environment = os.environ | {"NO_COLOR": "1", "PYTHONUTF8": "1"}
    try:
        done = subprocess.run(
            [str(BIN / program), *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        return Outcome(code=2, output=str(error), seconds=time.perf_counter() - started)
    return Outcome(code=done.returncode, output=done.stdout, seconds=time.perf_counter() - started)


def main() -> int:
    """Run all gates, whatever the others do, and return 1 if any of them failed."""
    failed: list[str] = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        pending: list[tuple[Gate, Future[Outcome]]] = [(gate, pool.submit(run, gate)) for gate in GATES]
        for gate, future in pending:
            outcome = future.result()
            verdict = "ok" if outcome.code == 0 else "FAILED"
            print(f"{gate.name:<10} {verdict:<7} {outcome.seconds:6.1f} s", flush=True)
            if outcome.code:
                failed.append(gate.name)
                print(outcome.output.rstrip(), flush=True)
    if failed:
        print(f"gates failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

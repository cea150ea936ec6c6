"""The gates over a real record and over a generated one that grows."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

COMMAND = Path(sys.executable).parent / "dsh-rfc"
REPEATS = 5
SMALL, LARGE = 100, 5_000

_BODY = """# RFC: Topic {number}

Status: proposed

## Problem

{filler}

## Proposal

{filler}

## Alternatives considered

**Another way.** {filler}

## Acceptance criteria

* {filler}

## Risks

{filler}
"""
_FILLER = "A cold start takes four seconds, and `users` notice *every* one of them. " * 8


def rows() -> list[tuple[str, float, float | None, str]]:
    """Return name, seconds, floor in seconds (or none) and a note of each figure."""
    found: list[tuple[str, float, float | None, str]] = []
    floor = [sys.executable, "-c", "import click, markdown_it; markdown_it.MarkdownIt()"]
    corpus = os.environ.get("DSH_CORPUS")
    if corpus:
        record = Path(corpus) / "conforming" / "docs" / "rfc"
        product_s, floor_s = best_s([COMMAND, "check", "--root", record], floor)
        note = "floor: start Python, import click and markdown-it"
        found.append(("dsh-rfc check, 112 real RFCs, whole process", product_s, floor_s, note))
    with tempfile.TemporaryDirectory() as folder:
        small = _generate(Path(folder) / "small", SMALL)
        large = _generate(Path(folder) / "large", LARGE)
        large_s, small_s = best_s([COMMAND, "check", "--root", large], [COMMAND, "check", "--root", small])
    note = f"floor: {SMALL} of them, so the ratio is the growth over {LARGE // SMALL} times the files"
    found.append((f"dsh-rfc check, {LARGE} generated RFCs, whole process", large_s, small_s, note))
    return found


def best_s(*commands: Sequence[str | Path]) -> list[float]:
    """Return the shortest run of each command, in seconds; they take turns, so that drift meets them alike."""
    best = [float("inf")] * len(commands)
    for _ in range(REPEATS):
        for position, command in enumerate(commands):
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            best[position] = min(best[position], time.perf_counter() - started)
    return best


def _generate(folder: Path, count: int) -> Path:
    target = folder / "proposed" / "feature"
    target.mkdir(parents=True)
    for number in range(count):
        text = _BODY.format(number=number, filler=_FILLER)
        (target / f"2026-08-01-topic-{number}.md").write_text(text, encoding="utf-8")
    subprocess.run([COMMAND, "index", "--root", folder], check=True, capture_output=True)
    return folder


if __name__ == "__main__":
    for name, product_s, floor_s, note in rows():
        floor = f"{floor_s:.3f}" if floor_s is not None else "-"
        print(f"{name}\t{product_s:.3f}\t{floor}\t{note}")

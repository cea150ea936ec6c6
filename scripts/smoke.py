"""Install built wheels into a fresh environment and see that what people will do with them works.

Owns the last look at archives before they are published. Refuses to look into the repository: it sees a folder of
wheels and what an index has. Flow: wheels -> environment outside the repository -> programs run in it, each in a
process of its own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WINDOWS = sys.platform == "win32"

IMPORTS = """
import importlib, importlib.metadata, pathlib, sys
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    version = importlib.metadata.version(name.replace("_", "-"))
    assert module.__version__ == version, (name, module.__version__, version)
    place = pathlib.Path(module.__file__)
    assert place.is_relative_to(sys.prefix), f"{name} is imported from {place}, not from its wheel"
    assert (place.parent / "py.typed").is_file(), f"{name} is not marked as typed"
"""

WRITE = """
import asyncio, sys
from dsh_session import MessageTrigger, SessionStore, Source, Text, TurnEnd, TurnStart, UserMessage
from dsh_session_persistence import open_persistence

async def main(url):
    async with open_persistence(url) as persistence:
        store = SessionStore()
        persistence.attach(store)
        session = store.create()
        user = Source(kind="user")
        session.append(TurnStart(turn=1, trigger=MessageTrigger(source=user)))
        session.append(UserMessage(content=[Text(text="remember this")], source=user))
        session.append(TurnEnd(turn=1, reason={"kind": "completed"}))
        await store.flush(session)
        print(session.header.id)

asyncio.run(main(sys.argv[1]))
"""

READ = """
import asyncio, sys
from dsh_session import SessionStore
from dsh_session_persistence import open_persistence

async def main(url, session_id):
    async with open_persistence(url) as persistence:
        stored = await persistence.load(session_id)
        assert [header.id for header in await persistence.list()] == [session_id]
        session = SessionStore().create(id=session_id, seed=stored.events)
        message, = session.derive_messages()
        assert message.content[0].text == "remember this", message

asyncio.run(main(*sys.argv[1:]))
"""

RFC = """\
# RFC: Try what was built

Status: proposed

## Problem

An archive that was never installed is a guess.

## Proposal

Install it and use it.

## Alternatives considered

**Trust the build.** It cannot see what is missing from the archive.

## Acceptance criteria

- The gates accept this file.

## Risks

None that a test would not show.
"""


def uv() -> str:
    """Return the uv of the repository or, where there is none, the one on the path."""
    local = ROOT / ".tools" / "bin" / "uv"
    found = os.environ.get("DSH_UV") or (str(local) if local.is_file() else shutil.which("uv"))
    if found is None:
        raise SystemExit("uv is needed: `make setup` puts one into .tools")
    return found


def environment(folder: Path, wheels: list[Path]) -> Path:
    """Make an environment that holds the wheels and what they declare; return its folder of programs."""
    subprocess.run([uv(), "venv", "--quiet", "--no-project", "--python", sys.executable, str(folder)], check=True)
    programs = folder / ("Scripts" if WINDOWS else "bin")
    python = programs / ("python.exe" if WINDOWS else "python")
    subprocess.run([uv(), "pip", "install", "--quiet", "--python", str(python), *map(str, wheels)], check=True)
    return programs


def smoke(wheels: list[Path], scratch: Path) -> None:
    """Run every program against the installed wheels; the first that fails raises."""
    programs = environment(scratch / "environment", wheels)
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    variables |= {"PYTHONUTF8": "1", "PYTHONWARNINGS": "error", "NO_COLOR": "1"}

    def run(program: str, *arguments: str) -> str:
        command = [str(programs / program), *arguments]
        done = subprocess.run(command, cwd=scratch, env=variables, check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    modules = [wheel.name.partition("-")[0] for wheel in wheels]
    run("python", "-I", "-c", IMPORTS, *modules)
    print(f"imports: {', '.join(modules)}")
    for url in ("jsonl:sessions", "sqlite:sessions.db"):
        session_id = run("python", "-c", textwrap.dedent(WRITE), url)
        run("python", "-c", textwrap.dedent(READ), url, session_id)
        print(f"{url.partition(':')[0]}: a session outlives its process")
    rfc = scratch / "rfc" / "proposed" / "process" / "2026-08-01-try-what-was-built.md"
    rfc.parent.mkdir(parents=True)
    rfc.write_text(RFC, encoding="utf-8")
    run("dsh-rfc", "index", "--root", "rfc")
    run("dsh-rfc", "check", "--root", "rfc")
    print(f"{run('dsh-rfc', '--version')}: accepts an RFC and indexes it")


def main() -> int:
    """Try the wheels in a folder."""
    parser = argparse.ArgumentParser(description="Install the wheels of a folder and try them.")
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist")
    wheels = sorted(parser.parse_args().folder.resolve().glob("*.whl"))
    if not wheels:
        print("there are no wheels; `make dist` builds them", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="dsh-smoke-", ignore_cleanup_errors=WINDOWS) as scratch:
        try:
            smoke(wheels, Path(scratch))
        except subprocess.CalledProcessError as error:
            print(f"{error.stdout or ''}failed: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

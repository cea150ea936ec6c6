"""A demonstration: an agent is killed in the middle of a tool call, and a second process goes on.

Owns a small task, two tools and two scripts; needs no network and no key, but `dsh-session-persistence-sqlite`. Run
it with `python -m dsh_agent.demo`; the database and the files are in a temporary folder that is gone afterwards.
Flow: `main` -> first process -> SIGKILL -> second process -> the end of the task.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from dsh_agent.agent import Agent
from dsh_agent.agents import Agents
from dsh_agent.errors import ToolFailure
from dsh_agent.models import Call, Reply, ScriptedModel
from dsh_agent.tools import Tool, tool
from dsh_session import SessionEvent, SessionId, SessionStore
from dsh_session_persistence import SessionPersistence, open_persistence

__all__ = ["main"]

_SESSION_ID = SessionId("add-the-numbers")
_TASK = "Add the numbers in a.txt and b.txt, and write the sum to sum.txt."
_RUNNING = "running\n"  # what the first process says on its standard error once the tool is at work


class FileName(BaseModel):
    """Which file to read."""

    name: str


class FileText(BaseModel):
    """What to write, and where."""

    name: str
    text: str


def main() -> int:
    """Run the demonstration and return the exit code."""
    with tempfile.TemporaryDirectory(prefix="dsh-demo-") as name:
        folder = str(Path(name).resolve())
        Path(folder, "a.txt").write_text("17", encoding="utf-8")
        Path(folder, "b.txt").write_text("25", encoding="utf-8")
        _say("A first process works on a task.")
        with _start("first", folder) as first:
            heard = first.stderr.readline() if first.stderr is not None else ""
            first.kill()
            remains = first.stderr.read() if first.stderr is not None else ""
        if heard != _RUNNING:
            sys.stderr.write(heard + remains)
            return 1
        _say("The first process is killed while write_file runs.", "")
        _say("A second process resumes the session from SQLite.")
        with _start("second", folder) as second:
            _, complaints = second.communicate()
        if second.returncode:
            sys.stderr.write(complaints)
            return 1
        _say(f"sum.txt holds {Path(folder, 'sum.txt').read_text(encoding='utf-8')}.")
    return 0


def _start(part: str, folder: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dsh_agent.demo", part, folder]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603 - our own module, no shell


async def _first(folder: Path) -> None:
    """Begin the task; this process does not live to see its end."""
    model = ScriptedModel(
        [
            Reply(text="I read both files.", calls=[_read("a.txt"), _read("b.txt")]),
            Reply(text="17 and 25 make 42.", calls=[_write("42")]),
        ]
    )
    async with _open(folder) as persistence:
        agents = Agents(SessionStore(), persistence)
        agent = agents.create(
            model=model, tools=_tools(folder, is_slow=True), cwd=str(folder), session_id=_SESSION_ID
        )
        _show_from_now_on(agent)
        await agent.prompt(_TASK)


async def _second(folder: Path) -> None:
    """Go on from what the first process had stored."""
    model = ScriptedModel(
        [
            Reply(text="The write may have happened or not; I look.", calls=[_read("sum.txt")]),
            Reply(text="It did not happen; I write it again.", calls=[_write("42")]),
            "The sum is 42, and it is in sum.txt.",
        ],
        id_prefix="again",
    )
    async with _open(folder) as persistence:
        stored = await persistence.read(_SESSION_ID)
        agents = Agents(SessionStore(), persistence)
        agent = await agents.resume(_SESSION_ID, model=model, tools=_tools(folder, is_slow=False))
        added = agent.session.events[len(stored.events) :]
        _say(f"  {len(stored.events)} events were stored; loading closed the turn with {len(added)} more:")
        for event in added:
            _show(event)
        _show_from_now_on(agent)
        await agent.prompt("Go on.")
        _say(f"  {len(agent.session.events)} events, {agent.session.last_turn} turns, one session.")


def _open(folder: Path) -> SessionPersistence:
    return open_persistence(f"sqlite:{folder / 'sessions.db'}")


def _read(name: str) -> Call:
    return Call(name="read_file", arguments={"name": name})


def _write(text: str) -> Call:
    return Call(name="write_file", arguments={"name": "sum.txt", "text": text})


def _tools(folder: Path, *, is_slow: bool) -> list[Tool]:
    @tool
    async def read_file(arguments: FileName) -> str:
        """Read a file."""
        try:
            return await asyncio.to_thread((folder / arguments.name).read_text, encoding="utf-8")
        except FileNotFoundError as error:
            raise ToolFailure(f"there is no {arguments.name}", code="ENOENT") from error

    @tool
    async def write_file(arguments: FileText) -> str:
        """Write a file."""
        if is_slow:
            sys.stderr.write(_RUNNING)
            sys.stderr.flush()
            await asyncio.Event().wait()
        await asyncio.to_thread((folder / arguments.name).write_text, arguments.text, encoding="utf-8")
        return "written"

    return [read_file, write_file]


def _show_from_now_on(agent: Agent) -> None:
    agent.subscribe(_show)


def _show(event: SessionEvent) -> None:
    """Print an event in one line, unless it is a boundary of no interest."""
    data = event.data
    if event.type == "user/message":
        _line("user", _text(data))
    elif event.type == "assistant/message":
        _line("assistant", _text(data))
    elif event.type == "tool/call":
        _line("call", f"{data['name']} {data['arguments']}")
    elif event.type == "tool/result":
        _line("error" if data["isError"] else "result", _text(data))
    elif event.type == "turn/end":
        _line("turn end", data["reason"]["kind"])


def _text(data: Mapping[str, Any]) -> str:
    return " ".join(block["text"] for block in data["content"] if block["type"] == "text")


def _line(what: str, words: str) -> None:
    first, *rest = textwrap.wrap(words, width=84) or [""]
    _say(f"  {what:<10} {first}", *(f"  {'':<10} {line}" for line in rest))


def _say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["first", where]:
            asyncio.run(_first(Path(where)))
        case ["second", where]:
            asyncio.run(_second(Path(where)))
        case _:
            sys.exit(main())

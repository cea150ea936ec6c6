"""The command `dsh-rfc`: the only module that prints and exits.

Owns options, output and exit codes: 0 clean, 1 findings, 2 could not judge. Everything that is not an answer is 2,
click's own errors and bugs of ours included, because a caller that sees 1 must be able to trust that something was
judged.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from dsh_rfc import __version__
from dsh_rfc.errors import CannotJudge, WriteFailed
from dsh_rfc.stage.command import stage_command

if TYPE_CHECKING:
    from dsh_rfc.external import Prober

ISSUES = "https://github.com/dsh-py/dsh/issues"
CLEAN, FINDINGS, NO_VERDICT = 0, 1, 2

_ROOT = click.option(
    "--root",
    type=click.Path(path_type=Path),
    help="Folder of a record to judge under the default contract. [default: the record of this repository]",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dsh-rfc")
@click.option("--debug", is_flag=True, help="Show the traceback when the command itself fails.")
def cli(*, debug: bool) -> None:
    """Judge a record of RFCs and generate its index.

    Exit codes: 0 clean, 1 findings, 2 could not judge.
    """


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@_ROOT
@click.option(
    "--select",
    multiple=True,
    metavar="CODE",
    help="Run this rule only, or those that fit a pattern ('link-*'); may be repeated.",
)
@click.option(
    "--ignore", multiple=True, metavar="CODE", help="Leave this rule out, or those that fit; may be repeated."
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="How findings are written.",
)
@click.option(
    "--external", is_flag=True, help="Ask other hosts whether the pages that are linked to are there. Slow."
)
def check(
    *,
    paths: tuple[Path, ...],
    root: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    format_name: str,
    external: bool,
) -> int:
    """Judge the record, or of it only PATHS: files, or folders with what is below them.

    With --root a tree of RFCs is judged on its own: format, placement and index. The rules about the repository
    around it (links, references, pairs, examples) run there only when they are selected: --select '*' runs all.
    """
    from dsh_rfc.check import check_record
    from dsh_rfc.formats import as_github, as_json, as_sarif, as_text
    from dsh_rfc.record import Record

    record = Record.open(root)
    rules, report = check_record(
        record, paths=paths, select=select, ignore=ignore, probe=_probe() if external else None
    )
    match format_name:
        case "json":
            text = as_json(report, record.display)
        case "sarif":
            text = as_sarif(report, record.display, rules)
        case "github":
            text = as_github(report, record.display)
        case _:
            text = as_text(report, record.display, _painter())
    _say(text)
    files = len({item.path for item in report.diagnostics})
    for crash in report.crashes:
        _complain(f"the rule {crash.code} crashed on {record.display(crash.path)}: {_one_line(crash.error)}")
        if _debugging():
            _show_traceback(crash.error)
    if report.crashes:
        _complain(f"this is a bug of dsh-rfc; please report it at {ISSUES} (--debug shows where it happened)")
    found = f"{_count(len(report.diagnostics), 'finding')} in {_count(files, 'file')}" if files else "no findings"
    pages = f" and {_count(report.pages, 'other page')}" if report.pages else ""
    _note(f"{_count(report.checked, 'RFC')}{pages} checked, {found}")
    return NO_VERDICT if report.crashes else FINDINGS if report.diagnostics else CLEAN


@cli.command()
@_ROOT
@click.option(
    "--check", "checking", is_flag=True, help="Write nothing; fail and show the difference if it is stale."
)
def index(*, root: Path | None, checking: bool) -> int:
    """Write the index of the record."""
    from dsh_rfc.check import index_obstacles, index_of
    from dsh_rfc.formats import as_text
    from dsh_rfc.generated import difference, write
    from dsh_rfc.record import Record

    record = Record.open(root)
    obstacles = index_obstacles(record)
    if obstacles.crashes:
        raise obstacles.crashes[0].error
    if obstacles.diagnostics:
        _say(as_text(obstacles, record.display, _painter()))
        _note(f"no index: {_count(len(obstacles.diagnostics), 'file')} cannot be listed")
        return FINDINGS
    item = index_of(record)
    if not checking:
        done = "written" if write(item) else "already up to date"
        _note(f"{item.path} {done}")
        return CLEAN
    if diff := difference(item):
        _say(diff)
        _note(f"{item.path} is stale; run `{item.command}`")
        return FINDINGS
    _note(f"{item.path} is up to date")
    return CLEAN


@cli.command()
@click.option(
    "--check", "checking", is_flag=True, help="Write nothing; fail and show the difference if one is stale."
)
def generate(*, checking: bool) -> int:
    """Write every file that the configuration names a renderer for."""
    from dsh_rfc.configuration import find_repository
    from dsh_rfc.errors import RecordMissing
    from dsh_rfc.generate import COMMAND, render_part
    from dsh_rfc.generated import difference, write

    repository = find_repository(Path.cwd())
    if not repository.contract.generated:
        msg = "nothing is generated here; name files and renderers under generated in [tool.dsh-rfc]"
        raise RecordMissing(msg)
    stale, files, failed = [], 0, False
    for part in repository.contract.generated:
        try:
            rendered = render_part(part, repository)
            files += len(rendered.files)
            for item in rendered.files:
                if checking and (diff := difference(item)):
                    _say(diff)
                    stale.append(item.path)
                elif not checking and write(item):
                    _note(f"{item.path} written")
        except CannotJudge as error:
            _complain(f"{part.path}: {error}")
            failed = True
            continue
        for path in rendered.left_over:
            _note(f"{path} is written by nothing any more; delete it")
            stale.append(path)
    if failed:
        return NO_VERDICT
    if stale and checking:
        _note(f"{_count(len(stale), 'generated file')} out of date; run `{COMMAND}`")
    elif not stale:
        _note(f"{_count(files, 'generated file')} up to date")
    return FINDINGS if stale else CLEAN


@cli.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@_ROOT
@click.option("--confirm", "confirming", is_flag=True, help="Record that the sides of the pairs say the same.")
def pairs(*, paths: tuple[Path, ...], root: Path | None, confirming: bool) -> int:
    """List the documents with the state of their translations, or of them only PATHS.

    With --confirm, record the hashes of both sides, for PATHS (any file of a pair, or folders) or for all pairs.
    Confirm what you have read.
    """
    from dsh_rfc.confirmation import STATES, chosen, confirm, read_states
    from dsh_rfc.record import Record

    record = Record.open(root)
    if confirming:
        confirmations = confirm(record, paths)
        for item in confirmations:
            _say(f"{'confirmed' if item.is_new else 'unchanged'}  {record.display(item.pair.path)}\n")
            if item.is_new:
                for name, digest in item.after.items():
                    _say(f"    {name}  {item.before.get(name, 'new')[:12]} -> {digest[:12]}\n")
        number = sum(item.is_new for item in confirmations)
        _note(f"{_count(number, 'pair')} confirmed, {len(confirmations) - number} unchanged")
        return CLEAN
    wanted = {pair.path for pair in chosen(record, paths)}
    found = [state for state in read_states(record.corpus) if state.pair.path in wanted]
    for state in found:
        detail = f"  ({state.detail})" if state.detail else ""
        _say(f"{state.word.ljust(10)}  {record.display(state.pair.path)}{detail}\n")
    counts = ((word, sum(state.word == word for state in found)) for word in STATES)
    summary = ", ".join(f"{number} {word}" for word, number in counts if number)
    _note(f"{_count(len(found), 'document')}: {summary}" if found else "no documents")
    return CLEAN


@cli.command()
@click.argument("code", required=False)
def explain(*, code: str | None) -> int:
    """Print the page of a rule, or the list of all rules."""
    from dsh_rfc.engine import choose
    from dsh_rfc.pages import render_rule_list, render_rule_page
    from dsh_rfc.rules import RULES

    if code is None:
        _say(render_rule_list(RULES))
    else:
        _say("\n".join(render_rule_page(rule) for rule in choose(RULES, select=[code])))
    return CLEAN


cli.add_command(stage_command)


def _probe() -> "Prober":
    from dsh_rfc.external import Prober, cache_file

    if sys.stderr is not None and sys.stderr.isatty():
        _note("asking other hosts, one request to each at a time")
    return Prober(cache=cache_file())


def main() -> None:
    """Run the command and exit."""
    sys.exit(_run())


def _run() -> int:
    try:
        result = cli.main(standalone_mode=False)
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        return NO_VERDICT
    except click.Abort:
        _complain("interrupted")
        return NO_VERDICT
    except CannotJudge as error:
        _complain(str(error))
        return NO_VERDICT
    except Exception as error:  # noqa: BLE001 - a bug must not look like a finding
        if _debugging():
            _show_traceback(error)
        _complain(
            f"{_one_line(error)}; this is a bug, please report it at {ISSUES} (--debug shows where it happened)"
        )
        return NO_VERDICT
    return result if isinstance(result, int) else CLEAN


def _debugging() -> bool:
    return "--debug" in sys.argv[1:2]


def _show_traceback(error: BaseException) -> None:
    import traceback

    traceback.print_exception(error)


def _painter() -> Callable[[str], str]:
    if os.environ.get("NO_COLOR") or sys.stdout is None or not sys.stdout.isatty():
        return str
    return lambda text: click.style(text, fg="red", bold=True)


def _say(text: str) -> None:
    """Write an answer; a reader that goes away early, or was never there, is no failure."""
    if sys.stdout is None:
        return  # closed by the caller
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", errors="backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        msg = f"the answer cannot be written: {error.strerror}"
        raise WriteFailed(msg) from error


def _complain(text: str) -> None:
    _note(f"dsh-rfc: {text}")


def _note(text: str) -> None:
    """Write beside the answer; a place that takes no more is no reason to change the verdict."""
    try:
        click.echo(text, err=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Let what is left for a stream go nowhere, or leaving would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

"""A shell fence names commands that a reader has.

A command that was renamed lives on in the instructions, and the first to notice is the newcomer who trusts them.
Judged are the documents that state present fact. A command exists when it belongs to a POSIX shell, is git, make or
Python, is a script of one of the repository's projects, stands at a path of the repository, or is granted by the
configuration. The targets of `make`, the module behind `python -m` and the file behind `python` must exist too.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.document import Document
from dsh_rfc.fences import CONSOLES, SHELLS, Fence
from dsh_rfc.marks import FAILS, NOT_RUN
from dsh_rfc.rule import Rule, each_fact
from dsh_rfc.shell import ShellUnreadable, read_commands


def check(subject: Document, corpus: Corpus) -> Iterator[Finding]:
    """Report each command that does not exist."""
    for fence in corpus.fences_of(subject):
        if fence.language in SHELLS and not fence.is_marked(FAILS, NOT_RUN):
            yield from _judge(fence, subject.path, corpus)


def _judge(fence: Fence, path: str, corpus: Corpus) -> Iterator[Finding]:
    try:
        commands = read_commands(fence.text, has_prompts=fence.language in CONSOLES)
    except ShellUnreadable as error:
        hint = "close the quote"
        yield Finding(path=path, line=fence.line + error.line, column=fence.column, message=str(error), hint=hint)
        return
    for command in commands:
        if absence := corpus.commands.absence(command.words):
            line = fence.line + command.line
            yield Finding(path=path, line=line, column=fence.column, message=absence.message, hint=absence.hint)


RULE = Rule(
    code="fence-command",
    summary="A shell fence names commands that exist.",
    hint="name the command as it is now, or mark the fence: `<!-- dsh-rfc: not-run — why -->`",
    doc=__doc__,
    over=each_fact,
    check=check,
    good={"README.md": "```sh\nmake check\n```\n", "Makefile": "check:\n\ttrue\n"},
    bad={"README.md": "```sh\nmake test\n```\n", "Makefile": "check:\n\ttrue\n"},
)

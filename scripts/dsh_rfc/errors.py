"""What stops the gates from judging at all.

Owns the exceptions that the command line turns into exit code 2. A finding is not an exception: it is the
answer of a run, see `diagnostics`.

```
CannotJudge                 somebody must act before a verdict is possible
├── ContractInvalid         the repository: its configuration is wrong
├── RecordMissing           the caller: there is no record at the place named
├── PathUnknown             the caller: a path names nothing that is judged
├── CodeUnknown             the caller: no rule has this code
├── NothingAsked             the caller: no rule is left to run
├── RendererFailed          the repository: what writes a generated file cannot be found, or failed
└── WriteFailed             the world: a generated file could not be written
```
"""

from collections.abc import Iterable
from difflib import get_close_matches


class CannotJudge(Exception):
    """No verdict is possible; the message says what to do."""


class ContractInvalid(CannotJudge):
    """The configuration cannot be used."""

    def __init__(self, *, source: str, faults: tuple[str, ...]) -> None:
        self.source = source
        self.faults = faults
        super().__init__("\n".join([f"{source}: the contract is not valid", *(f"  {fault}" for fault in faults)]))


class RecordMissing(CannotJudge):
    """There is no record of RFCs where one was expected, or it holds nothing."""


class PathUnknown(CannotJudge):
    """A path on the command line names nothing that is judged."""


class CodeUnknown(CannotJudge):
    """No rule has the code."""

    def __init__(self, code: str, known: Iterable[str]) -> None:
        self.code = code
        super().__init__(f"no rule has the code {code!r}{meant(code, known)}; `dsh-rfc explain` lists them all")


class NothingAsked(CannotJudge):
    """What was selected and what was left out leave no rule to run."""


class RendererFailed(CannotJudge):
    """A renderer cannot be found, raised, or returned no text."""

    def __init__(self, renderer: str, fault: str) -> None:
        self.renderer = renderer
        self.fault = fault
        super().__init__(f"{renderer} {fault}")


class WriteFailed(CannotJudge):
    """A generated file could not be written."""


def meant(given: str, known: Iterable[str]) -> str:
    """Return `, did you mean 'x'?` for a near miss, else nothing."""
    by_folded = {name.casefold(): name for name in known}
    near = get_close_matches(given.casefold(), list(by_folded), n=1, cutoff=0.6)
    return f", did you mean {by_folded[near[0]]!r}?" if near else ""

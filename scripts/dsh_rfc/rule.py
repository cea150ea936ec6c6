"""What a rule is.

Owns the shape that every module under `rules/` fills in: data, one pure function, and an example of both
verdicts. Refuses to run rules: `engine` does.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from dsh_rfc.corpus import Corpus, Located
from dsh_rfc.diagnostics import Finding, Severity
from dsh_rfc.document import Document
from dsh_rfc.rfc import Rfc


class Subject(Protocol):
    """What a rule is asked about: something with a path."""

    @property
    def path(self) -> str:
        """Where it stands, as findings name it."""


S = TypeVar("S", bound=Subject)


@dataclass(frozen=True, kw_only=True)
class Rule(Generic[S]):
    """One thing that can be wrong.

    Attributes:
        code: Kebab-case; the module's name with hyphens.
        summary: The rule in one sentence.
        hint: How to mend a breach.
        doc: The module's docstring: what is judged and why it matters.
        over: The subjects of a corpus, each judged apart.
        check: Pure; returns what is wrong with one subject.
        good: Files of a record on which the rule is silent.
        bad: Files of a record on which it speaks.
        severity: Both kinds make a run fail; a warning says that a reader may disagree.
        refuses_index: Whether the index cannot be generated over a breach.
    """

    code: str
    summary: str
    hint: str
    doc: str | None
    over: Callable[[Corpus], Sequence[S]]
    check: Callable[[S, Corpus], Iterable[Finding]]
    good: Mapping[str, str]
    bad: Mapping[str, str]
    severity: Severity = "error"
    refuses_index: bool = False


def each_entry(corpus: Corpus) -> Sequence[Located]:
    """Everything that stands in the record."""
    return corpus.located


def each_rfc(corpus: Corpus) -> Sequence[Rfc]:
    """Every RFC with any text in it; an empty file is one finding, not ten."""
    return [rfc for rfc in corpus.rfcs if not rfc.document.is_blank]


def each_page(corpus: Corpus) -> Sequence[Document]:
    """Every Markdown file of the repository that decodes, RFCs included, generated and vendored ones not."""
    return corpus.pages


def each_fact(corpus: Corpus) -> Sequence[Document]:
    """Every page that states present fact: what it names must exist."""
    return corpus.facts


def whole_record(corpus: Corpus) -> Sequence[Corpus]:
    """The record as one subject, for rules that compare files."""
    return (corpus,)

"""One RFC: its place, its document, its header and its sections.

Owns what the format rules ask of a single file. Refuses to judge.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from dsh_rfc.contract import Contract, Lifecycle
from dsh_rfc.document import Document, Heading
from dsh_rfc.header import Header, is_underlined_status, read_header
from dsh_rfc.placement import Place

_NEAR = 0.8


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of level 2.

    Attributes:
        name: As written.
        line: 1-based.
        column: 1-based.
        is_empty: Whether nothing that a reader would see stands under it.
    """

    name: str
    line: int
    column: int
    is_empty: bool


@dataclass(frozen=True, kw_only=True)
class Rfc:
    """A file in a lifecycle folder that decodes."""

    place: Place
    document: Document
    contract: Contract

    @property
    def path(self) -> str:
        """Where it stands, as the corpus names it."""
        return self.document.path

    @property
    def lifecycle(self) -> Lifecycle:
        """What its folder asks for."""
        return self.contract.of(self.place.lifecycle)

    @cached_property
    def header(self) -> Header:
        """Its header block."""
        return read_header(self.document)

    @property
    def title(self) -> str:
        """Its title without the prefix; empty when it has none."""
        heading = self.header.title
        return heading.name.removeprefix(self.contract.title_prefix).strip() if heading else ""

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Its sections of level 2 below the title, in order."""
        return tuple(
            Section(
                name=heading.name,
                line=heading.line,
                column=heading.column,
                is_empty=not self._has_content(heading),
            )
            for heading in self.document.headings
            if heading.level == 2 and heading.line > self.header.title_line and not is_underlined_status(heading)
        )

    def named(self, name: str) -> tuple[Section, ...]:
        """Return the sections of this name."""
        return tuple(section for section in self.sections if section.name == name)

    @property
    def required(self) -> tuple[str, ...]:
        """The names that must stand once: the opener, the lifecycle's own, the alternatives."""
        names = (self.contract.first_section, *self.lifecycle.required, self.contract.alternatives_section)
        return tuple(dict.fromkeys(names))

    def resembling(self, name: str) -> Heading | None:
        """Return a heading that probably means the section: other case, other level, a word apart."""
        known = {*self.required, *self.lifecycle.banned}
        best: tuple[float, Heading] | None = None
        for heading in self.document.headings:
            if heading.line <= self.header.title_line or (heading.level == 2 and heading.name in known):
                continue
            ratio = SequenceMatcher(None, heading.name.casefold(), name.casefold()).ratio()
            if ratio >= _NEAR and (best is None or ratio > best[0]):
                best = (ratio, heading)
        return best[1] if best else None

    @cached_property
    def alternatives_comments(self) -> tuple[int, ...]:
        """The 1-based lines that are exactly the comment which stands for absent alternatives."""
        return tuple(
            number
            for token in self.document.blocks
            if token.type == "html_block" and token.level == 0 and token.map is not None
            for number in range(token.map[0] + 1, token.map[1] + 1)
            if self.document.lines[number - 1].strip() == self.contract.alternatives_comment
        )

    def _has_content(self, heading: Heading) -> bool:
        in_heading = False
        for token in self.document.blocks[heading.token_index + 3 :]:
            if token.type in {"heading_open", "heading_close"} and token.level == 0:
                in_heading = token.type == "heading_open"
                if int(token.tag[1:]) <= 2:
                    return False
            elif token.type in {"inline", "fence", "code_block"}:
                if token.content.strip() and not in_heading:
                    return True
            elif token.type == "html_block" and not _is_comment(token.content):
                return True
        return False


def _is_comment(html: str) -> bool:
    rest = html.strip()
    while rest.startswith("<!--"):
        _, _, rest = rest.partition("-->")
        rest = rest.strip()
    return not rest

"""Everything that the rules of one run look at.

Owns joining the record, the repository around it, the contract and the documents, each file decoded and parsed at
most once whatever the number of rules. Refuses to know how files are found and read, and to judge.

Flow: entries -> places -> documents and flaws -> RFCs; paths of the repository -> pages.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from dsh_rfc.anchors import read_anchors
from dsh_rfc.commands import Commands
from dsh_rfc.contract import Contract
from dsh_rfc.document import Document, Flaw, decode
from dsh_rfc.fences import Fence, read_fences
from dsh_rfc.links import Links, read_links
from dsh_rfc.marks import Mark, read_marks
from dsh_rfc.pairs import Pair, PairRecord, find_pairs, read_record, split_tag
from dsh_rfc.placement import Place, Role, judge
from dsh_rfc.references import Span, read_spans
from dsh_rfc.rfc import Rfc
from dsh_rfc.storage import Hashes, Storage
from dsh_rfc.symbols import Symbols
from dsh_rfc.tree import Entry, Kind, is_markdown
from dsh_rfc.worktree import Worktree, of_entries

FIRST_WORD = re.compile(r"\w+")
_READ = frozenset({Role.RFC, Role.CURATED, Role.INDEX})


@dataclass(frozen=True, kw_only=True)
class Located:
    """An entry with the place it stands in and, when it cannot be read as text, why."""

    entry: Entry
    place: Place
    flaw: Flaw | None

    @property
    def path(self) -> str:
        """As the corpus names it."""
        return self.place.path


@dataclass(frozen=True, kw_only=True)
class Unread:
    """A Markdown file that no RFC rule looks at and that is no text."""

    path: str
    flaw: Flaw


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A record of RFCs under its contract.

    Attributes:
        contract: What is allowed.
        entries: Everything in the record, paths relative to it.
        record: Where the record stands, relative to the folder that all findings count from; empty when
            that is the record itself.
        storage_of: Says how git stores files, when a hash is wanted.
        answers: Why addresses on other hosts are dead, when somebody asked; empty for those that live.
        around: The repository around the record; when it is not given, nothing is known of it.
    """

    contract: Contract
    entries: tuple[Entry, ...]
    record: str = ""
    around: Worktree | None = None
    answers: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    storage_of: Callable[[], Storage] = Storage
    _read: dict[str, Document | Flaw] = field(default_factory=dict, repr=False, compare=False)
    _records: dict[str, PairRecord] = field(default_factory=dict, repr=False, compare=False)
    _links: dict[str, Links] = field(default_factory=dict, repr=False, compare=False)
    _anchors: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    _spans: dict[str, tuple[Span, ...]] = field(default_factory=dict, repr=False, compare=False)
    _marks: dict[str, tuple[Mark, ...]] = field(default_factory=dict, repr=False, compare=False)
    _fences: dict[str, tuple[Fence, ...]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def path(self) -> str:
        """Where the record stands; what a rule over the whole record is blamed on when it crashes."""
        return self.record or "."

    def locate(self, path_in_record: str) -> str:
        """Return the path as findings name it."""
        return f"{self.record}/{path_in_record}" if self.record else path_in_record

    @cached_property
    def _decoded(self) -> tuple[tuple[Located, ...], Mapping[str, Document]]:
        located: list[Located] = []
        documents: dict[str, Document] = {}
        for entry in self.entries:
            place = judge(entry, path=self.locate(entry.path), contract=self.contract)
            flaw: Flaw | None = None
            if entry.fault:
                flaw = Flaw(line=1, column=1, message=entry.fault)
            elif entry.kind is Kind.FILE and place.role in _READ:
                result = decode(place.path, entry.data)
                if isinstance(result, Document):
                    documents[place.path] = result
                else:
                    flaw = result
            located.append(Located(entry=entry, place=place, flaw=flaw))
        return tuple(located), documents

    @property
    def is_listed(self) -> bool:
        """Whether every folder could be listed; otherwise nobody knows what stands there."""
        return not any(entry.kind is Kind.FOLDER and entry.fault for entry in self.entries)

    @property
    def located(self) -> tuple[Located, ...]:
        """Every entry with its place, in path order."""
        return self._decoded[0]

    @property
    def documents(self) -> Mapping[str, Document]:
        """The documents that are judged, by path."""
        return self._decoded[1]

    @cached_property
    def rfcs(self) -> tuple[Rfc, ...]:
        """The RFCs that decode, misplaced ones included, in path order."""
        return tuple(
            Rfc(place=item.place, document=self.documents[item.path], contract=self.contract)
            for item in self.located
            if item.place.role is Role.RFC and item.path in self.documents
        )

    @property
    def curated(self) -> Document | None:
        """The curated front page."""
        return self.documents.get(self.locate(self.contract.curated))

    @property
    def index(self) -> Document | None:
        """The index as it stands on the disk."""
        return self.documents.get(self.locate(self.contract.index))

    @cached_property
    def worktree(self) -> Worktree:
        """Where links may lead."""
        return self.around or of_entries(self.entries, self.locate)

    @cached_property
    def hashes(self) -> Hashes:
        """The hashes under which git stores the files."""
        return Hashes(worktree=self.worktree, storage_of=self.storage_of)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Every judged document with its counterparts, in path order."""
        generated = [part.path for part in self.contract.generated]
        return find_pairs(self.worktree, self.contract, never=[*generated, self.locate(self.contract.index)])

    def confirmed(self, pair: Pair) -> PairRecord:
        """Return what the record of a pair says, read once."""
        if pair.record not in self._records:
            try:
                self._records[pair.record] = read_record(self.worktree.read(pair.record))
            except OSError as error:
                fault = f"the record cannot be read: {error.strerror or error}"
                self._records[pair.record] = PairRecord(fault=fault)
        return self._records[pair.record]

    @cached_property
    def pages(self) -> tuple[Document, ...]:
        """Every Markdown file that is judged and decodes, RFCs included, in path order; the index is generated."""
        index = self.locate(self.contract.index)
        read = (self._document_at(path) for path in self.worktree.documents if path != index)
        return tuple(item for item in read if isinstance(item, Document))

    @cached_property
    def unread_pages(self) -> tuple["Unread", ...]:
        """The pages that cannot be read, without those whose flaw stands in `located`."""
        known = {item.path for item in self.located if item.flaw is not None}
        read = ((path, self._document_at(path)) for path in self.worktree.documents if path not in known)
        return tuple(Unread(path=path, flaw=item) for path, item in read if isinstance(item, Flaw))

    @cached_property
    def paths_around(self) -> tuple[str, ...]:
        """The Markdown files outside of the record that are judged."""
        inside = f"{self.record}/" if self.record else ""
        return tuple(path for path in self.worktree.documents if not path.startswith(inside))

    def page_at(self, path: str) -> Document | None:
        """Return the Markdown file at a path of the repository, judged or not; None when there is none to read."""
        if not is_markdown(path) or self.worktree.kind(path) is not Kind.FILE:
            return None
        found = self._document_at(path)
        return found if isinstance(found, Document) else None

    def links_of(self, page: Document) -> Links:
        """Return the links of a page, found once."""
        if page.path not in self._links:
            self._links[page.path] = read_links(page)
        return self._links[page.path]

    def anchors_of(self, page: Document) -> tuple[str, ...]:
        """Return where in a page a link may lead, found once."""
        if page.path not in self._anchors:
            self._anchors[page.path] = read_anchors(page)
        return self._anchors[page.path]

    def spans_of(self, page: Document) -> tuple[Span, ...]:
        """Return the code spans of a page that could name something, found once."""
        if page.path not in self._spans:
            self._spans[page.path] = tuple(read_spans(page))
        return self._spans[page.path]

    def marks_of(self, page: Document) -> tuple[Mark, ...]:
        """Return the marks of a page, found once."""
        if page.path not in self._marks:
            self._marks[page.path] = read_marks(page)
        return self._marks[page.path]

    def fences_of(self, page: Document) -> tuple[Fence, ...]:
        """Return the fenced blocks of a page, found once."""
        if page.path not in self._fences:
            self._fences[page.path] = read_fences(page)
        return self._fences[page.path]

    @cached_property
    def facts(self) -> tuple[Document, ...]:
        """The pages that state present fact, in path order."""
        tops = tuple(f"{name.strip('/')}/" for name in self.contract.facts if "/" in name)
        names = {name for name in self.contract.facts if "/" not in name}

        def states_fact(page: Document) -> bool:
            path, _ = split_tag(page.path, self.contract)
            return not names.isdisjoint(path.split("/")) or f"{path}/".startswith(tops)

        return tuple(page for page in self.pages if states_fact(page))

    @cached_property
    def symbols(self) -> Symbols:
        """The names in the repository's packages."""
        return Symbols(worktree=self.worktree, sources=self.contract.python_sources)

    @cached_property
    def commands(self) -> Commands:
        """The commands that a reader has."""
        return Commands(worktree=self.worktree, symbols=self.symbols, granted=self.contract.commands)

    @cached_property
    def rfcs_by_name(self) -> Mapping[str, Rfc]:
        """The RFCs by their file names without the ending."""
        return {rfc.path.rpartition("/")[2].removesuffix(".md"): rfc for rfc in self.rfcs}

    @cached_property
    def rfcs_by_day(self) -> Mapping[str, tuple[Rfc, ...]]:
        """The RFCs by the date of their file names."""
        found: dict[str, list[Rfc]] = {}
        for rfc in self.rfcs:
            found.setdefault(str(rfc.place.first_proposed or ""), []).append(rfc)
        return {day: tuple(rfcs) for day, rfcs in found.items()}

    @cached_property
    def rfcs_by_title(self) -> Mapping[str, Rfc]:
        """The RFCs by title, as far as they have one."""
        return {rfc.title: rfc for rfc in self.rfcs if rfc.title}

    @cached_property
    def title_lengths(self) -> Mapping[str, tuple[int, ...]]:
        """How long the titles are, by first word: how one is found in a text without trying them all."""
        found: dict[str, set[int]] = {}
        for title in self.rfcs_by_title:
            if word := FIRST_WORD.match(title):
                found.setdefault(word.group(), set()).add(len(title))
        return {word: tuple(sorted(lengths)) for word, lengths in found.items()}

    @cached_property
    def paths_by_name(self) -> Mapping[str, tuple[str, ...]]:
        """The judged Markdown files by their file name: where something may have moved to."""
        found: dict[str, list[str]] = {}
        for path in self.worktree.documents:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return {name: tuple(paths) for name, paths in found.items()}

    def _document_at(self, path: str) -> Document | Flaw:
        if path in self.documents:
            return self.documents[path]
        if path not in self._read:
            try:
                self._read[path] = decode(path, self.worktree.read(path))
            except OSError as error:
                self._read[path] = Flaw(line=1, column=1, message=f"cannot be read: {error.strerror or error}")
        return self._read[path]

    @cached_property
    def judged_paths(self) -> tuple[str, ...]:
        """Every RFC, readable or not: what a run says it checked."""
        return tuple(item.path for item in self.located if item.place.role in {Role.RFC, Role.MISPLACED})

"""The contract as data: what a record of RFCs has to look like.

Owns the shape of the contract and its defaults, which are this project's contract. Refuses to read files:
`configuration` does, and validates what a repository overrides. Rules read the contract and nothing else
tells them what is allowed.

The classes are plain frozen dataclasses that pydantic validates through `__pydantic_config__`: a repository
that overrides nothing does not pay for importing pydantic, which takes longer than judging a hundred files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Any, ClassVar, Literal

ALTERNATIVES_COMMENT = "<!-- rfc-format: alternatives-not-recorded (pre-format RFC) -->"
Wrap = Literal["paragraph", "free"]
ProsePart = Literal["skeletons", "classes", "statuses", "banned"]


def kebab(name: str) -> str:
    """Return the key as it is written in TOML."""
    return name.replace("_", "-")


_CONFIG: Mapping[str, Any] = MappingProxyType(
    {"extra": "forbid", "strict": False, "alias_generator": kebab, "validate_by_name": False}
)


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """What one lifecycle folder asks of the files in it.

    Attributes:
        status: The word of the status line; the folder's name when empty.
        reason: Whether the status continues with an em dash and a reason.
        required: Section names that must stand once, with something under them.
        banned: Section names that must not stand, in any case, also with words after them.
    """

    status: str = ""
    reason: bool = False
    required: tuple[str, ...] = ()
    banned: tuple[str, ...] = ()

    __pydantic_config__: ClassVar[Any] = dict(_CONFIG)


_LIFECYCLE_DEFAULTS: Mapping[str, Lifecycle] = MappingProxyType(
    {
        "proposed": Lifecycle(required=("Proposal", "Acceptance criteria", "Risks")),
        "implemented": Lifecycle(
            required=("Decision", "Consequences"),
            banned=("Proposal", "Plan", "Migration plan", "Acceptance criteria"),
        ),
        "rejected": Lifecycle(reason=True, required=("Proposal",)),
    }
)


@dataclass(frozen=True, kw_only=True)
class GeneratedPart:
    """A file, or a folder of files, that a program writes.

    Attributes:
        path: From the top of the repository; a folder when it ends in a slash.
        renderer: `module:function`. It takes nothing, or the folder of the repository, and returns the text; for
            a folder, texts by file name.
    """

    path: str
    renderer: str

    __pydantic_config__: ClassVar[Any] = dict(_CONFIG)


@dataclass(frozen=True, kw_only=True)
class Contract:
    """Where RFCs stand, how their headers read, which sections they have.

    Attributes:
        root: Folder of the record, relative to the repository.
        lifecycles: The closed set of lifecycle folders, in the order of the index.
        classes: The closed set of class folders, in the order of the index.
        lifecycle: Per lifecycle, what its files must look like.
        title_prefix: What the title starts with.
        first_section: The section that opens every body.
        alternatives_section: The section that is mandatory in every lifecycle.
        alternatives_comment: What an old file may carry instead of it.
        alternatives_since: First date (of the file name) from which the comment is refused.
        retired_markers: Texts that must not appear again.
        curated: Name of the hand-written front door at the top of the record.
        index: Name of the generated index at the top of the record.
        notes: Names that may stand at the root of a lifecycle folder.
        translations: Language tags of counterparts (`x.zh.md`), which the format rules pass over.
        language: Language tag of the files that have none in their name.
        language_names: What the readers of a language call it, by tag.
        pairs_required: Documents that must have a counterpart: paths from the top, of files or of folders.
        pairs_excluded: Documents that may not have one, because they are generated or bilingual by themselves.
        prose_parts: What the curated page must state in a shape that can be compared with this contract:
            `skeletons`, `classes`, `statuses`, `banned`. What is not listed is compared where it stands.
        generated: The files that a program writes.
        facts: Documents that state present fact, so that what they name must exist: a name means every file or
            folder of that name, a path with a slash one from the top. A translation follows its document.
        python_sources: Folders that the repository's Python packages stand in, from the top; a part may be `*`.
        commands: What the readers of shell examples have, beside a POSIX shell, git, make, Python, and the scripts
            of the repository's own projects.
        wrap: `paragraph` when a paragraph is one line, `free` when lines may break anywhere.
        ignore: Codes of rules that do not apply to this repository.
        exclude: Folders whose Markdown is not judged, because it is generated or vendored: a name means every
            folder of that name, a path with a slash one folder or file from the top of the repository.
        max_file_bytes: A larger file is no document and is not parsed.
    """

    root: str = "docs/rfc"
    lifecycles: tuple[str, ...] = ("proposed", "implemented", "rejected")
    classes: tuple[str, ...] = (
        "feature",
        "bug-fix",
        "simplification",
        "architecture",
        "process",
        "testing",
    )
    lifecycle: Mapping[str, Lifecycle] = field(default_factory=lambda: dict(_LIFECYCLE_DEFAULTS))
    title_prefix: str = "RFC: "
    first_section: str = "Problem"
    alternatives_section: str = "Alternatives considered"
    alternatives_comment: str = ALTERNATIVES_COMMENT
    alternatives_since: date = date(2026, 7, 5)
    retired_markers: tuple[str, ...] = ("XXX: legacy ADR/RFC body format",)
    curated: str = "README.md"
    index: str = "INDEX.md"
    notes: tuple[str, ...] = ("AGENTS.md", "CLAUDE.md")
    translations: tuple[str, ...] = ("zh",)
    language: str = "en"
    language_names: Mapping[str, str] = field(default_factory=lambda: {"en": "English", "zh": "中文"})
    pairs_required: tuple[str, ...] = ()
    pairs_excluded: tuple[str, ...] = ()
    prose_parts: tuple[ProsePart, ...] = ()
    generated: tuple[GeneratedPart, ...] = ()
    facts: tuple[str, ...] = ("README.md", "CONTRIBUTING.md", "guides", "implemented")
    python_sources: tuple[str, ...] = ("", "src", "packages/*", "packages/*/src")
    commands: tuple[str, ...] = ()
    wrap: Wrap = "paragraph"
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ("node_modules", "third_party", "vendor")
    max_file_bytes: int = 32 * 1024 * 1024

    __pydantic_config__: ClassVar[Any] = dict(_CONFIG)

    def of(self, lifecycle: str) -> Lifecycle:
        """Return what the lifecycle asks for, with its status word filled in."""
        asked = self.lifecycle.get(lifecycle, Lifecycle())
        return asked if asked.status else replace(asked, status=lifecycle)

    def status_form(self, lifecycle: str) -> str:
        """Return how the status line of the lifecycle reads."""
        asked = self.of(lifecycle)
        return f"Status: {asked.status}{' — <why, in one line>' if asked.reason else ''}"

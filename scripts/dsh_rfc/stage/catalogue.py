"""The record as data: what the explorer, the feed and `index.json` show.

Owns the published shape of an RFC and its JSON Schema. Refuses to render pages.

Flow: corpus, dates, links -> `Entry` per RFC with its neighbours and back-links -> `Catalogue`.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from dsh_rfc.contract import Contract
from dsh_rfc.stage.settings import Settings
from dsh_rfc.stage.sources import url_of

SCHEMA_NAME = "index.schema.json"


class Entry(BaseModel):
    """One RFC."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: Annotated[str, Field(description="The document, relative to the repository.")]
    page: Annotated[str, Field(exclude=True)]
    title: Annotated[str, Field(description="Without the prefix that all titles have.")]
    title_language: Annotated[str, Field(description="Language tag of the title.")]
    lifecycle: Annotated[str, Field(description="State of the decision.")]
    class_name: Annotated[str, Field(alias="class", description="Kind of decision.")]
    reason: Annotated[str, Field(description="Why it was declined; empty for the others.")]
    first_proposed: Annotated[date, Field(description="The date of the file name.")]
    last_changed: Annotated[
        datetime | None, Field(description="Time of the last commit; null where version control does not know it.")
    ]
    url: Annotated[str, Field(description="Its page.")]
    markdown: Annotated[str, Field(description="Its source, as Markdown.")]
    languages: Annotated[tuple[str, ...], Field(description="Tags of the languages that it exists in.")]
    referenced_by: Annotated[
        tuple[str, ...], Field(description="Addresses of the pages of this site that link to it.")
    ] = ()

    @property
    def changed_or_proposed(self) -> datetime:
        """The latest time that is known."""
        proposed = datetime.combine(self.first_proposed, datetime.min.time(), tzinfo=UTC)
        return max(self.last_changed or proposed, proposed)


class Catalogue(BaseModel):
    """Every RFC of a record, oldest first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Annotated[int, Field(description="Rises when a reader of the version before would fail.")] = 1
    site: Annotated[str, Field(description="Name of the site.")]
    url: Annotated[str, Field(description="Address of the explorer.")]
    language: Annotated[str, Field(description="Language tag of the tree that this file belongs to.")]
    lifecycles: Annotated[tuple[str, ...], Field(description="The closed set of lifecycles.")]
    classes: Annotated[tuple[str, ...], Field(description="The closed set of classes.")]
    rfcs: Annotated[tuple[Entry, ...], Field(description="Sorted by first date, then by path.")]

    @cached_property
    def by_page(self) -> Mapping[str, Entry]:
        """The entries by page."""
        return {entry.page: entry for entry in self.rfcs}

    @cached_property
    def _classes(self) -> Mapping[str, tuple[Entry, ...]]:
        return {name: tuple(item for item in self.rfcs if item.class_name == name) for name in self.classes}

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {item.page: at for items in self._classes.values() for at, item in enumerate(items)}

    def neighbours(self, entry: Entry) -> tuple[Entry | None, Entry | None]:
        """Return the RFCs of the same class before and after an entry, by first date."""
        items = self._classes[entry.class_name]
        at = self._positions[entry.page]
        return (items[at - 1] if at else None), (items[at + 1] if at + 1 < len(items) else None)

    def to_json(self) -> str:
        """Return the published text."""
        data = {"$schema": SCHEMA_NAME, **self.model_dump(mode="json", by_alias=True)}
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def make_catalogue(
    entries: Iterable[Entry], *, settings: Settings, contract: Contract, explorer: str, prefix: str, tag: str
) -> Catalogue:
    """Return the entries in order."""
    return Catalogue(
        site=settings.name,
        url=f"{settings.url}{prefix}{url_of(explorer)}",
        language=tag,
        lifecycles=contract.lifecycles,
        classes=contract.classes,
        rfcs=tuple(sorted(entries, key=lambda entry: (entry.first_proposed, entry.path.rpartition("/")[2]))),
    )


def render_schema(settings: Settings, record: str) -> str:
    """Return the JSON Schema of `index.json`."""
    schema: dict[str, Any] = Catalogue.model_json_schema(mode="serialization", by_alias=True)
    schema["properties"] = {"$schema": {"type": "string", "description": "This schema."}, **schema["properties"]}
    address = f"{settings.url}{record}/{SCHEMA_NAME}"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": address}
    return json.dumps({**head, **schema}, ensure_ascii=False, indent=1) + "\n"

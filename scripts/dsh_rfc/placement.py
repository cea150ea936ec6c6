"""Where a thing stands in the record, and whether it may.

Owns reading a path against the contract: role, lifecycle, class, date, topic, and at most one fault. The
rules of placement report these faults, one code each, so that a path is blamed once.

Flow: `Entry` -> parts below the record -> `Place`.
"""

import re
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum

from dsh_rfc.contract import Contract
from dsh_rfc.errors import meant
from dsh_rfc.tree import Entry, Kind, is_markdown

_DATED = re.compile(r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})-(?P<topic>.*)")
_TOPIC = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Role(Enum):
    """What the record takes a thing for."""

    RFC = "an RFC"
    CURATED = "the curated front page"
    INDEX = "the generated index"
    NOTE = "a note for readers of a lifecycle"
    TRANSLATION = "a counterpart in another language"
    MISPLACED = "Markdown that is none of these"
    PASSED = "nothing that the format judges"


@dataclass(frozen=True, kw_only=True)
class Place:
    """How a path reads.

    Attributes:
        path: As the corpus names it.
        role: What it is taken for.
        lifecycle: Name of a known lifecycle, or empty.
        class_name: Name of a known class, or empty.
        first_proposed: The date of the file name, if it has one that exists.
        topic: The rest of a right file name, or empty.
        code: The rule that its path breaks, or empty.
        message: Why.
        hint: What to do, when the rule's own hint is not specific enough.
    """

    path: str
    role: Role
    lifecycle: str = ""
    class_name: str = ""
    first_proposed: date | None = None
    topic: str = ""
    code: str = ""
    message: str = ""
    hint: str = ""


def judge(entry: Entry, *, path: str, contract: Contract) -> Place:
    """Return how an entry's path reads.

    Args:
        entry: With its path relative to the record.
        path: The same, as the corpus names it.
        contract: What is allowed.
    """
    parts = entry.path.split("/")
    lifecycle = parts[0] if parts[0] in contract.lifecycles else ""
    passed = Place(path=path, role=Role.PASSED, lifecycle=lifecycle)
    if len(parts) == 2 and lifecycle and entry.name in contract.notes:
        return replace(passed, role=Role.NOTE)
    if entry.kind is Kind.FOLDER:
        return _judge_folder(parts, passed, contract)
    if entry.kind in {Kind.LINK, Kind.OTHER}:
        return _blame(passed, "unreadable", f"is {entry.kind.value}, not a regular file")
    if not is_markdown(entry.name):
        return passed
    if _is_translation(entry.name, contract):
        return replace(passed, role=Role.TRANSLATION)
    if len(parts) == 1:
        return _judge_top(entry.name, passed, contract)
    if not lifecycle:
        return passed  # its folder is the finding
    return _judge_rfc(parts, replace(passed, role=Role.RFC), contract)


def _judge_folder(parts: list[str], passed: Place, contract: Contract) -> Place:
    is_page = len(parts) == 1 and parts[0] in {contract.curated, contract.index}
    if is_page or (len(parts) > 2 and is_markdown(parts[-1])):
        return _blame(passed, "unreadable", "is a folder, not a regular file")
    if len(parts) == 1 and not passed.lifecycle:
        allowed = ", ".join(contract.lifecycles)
        message = f"{parts[0]!r} is no lifecycle{meant(parts[0], contract.lifecycles)}"
        return _blame(passed, "unknown-lifecycle", message, f"move its files into one of: {allowed}")
    if len(parts) == 2 and passed.lifecycle and parts[1] not in contract.classes:
        allowed = ", ".join(contract.classes)
        message = f"{parts[1]!r} is no class{meant(parts[1], contract.classes)}"
        return _blame(passed, "unknown-class", message, f"move its files into one of: {allowed}")
    return passed


def _judge_top(name: str, passed: Place, contract: Contract) -> Place:
    if name == contract.curated:
        return replace(passed, role=Role.CURATED)
    if name == contract.index:
        return replace(passed, role=Role.INDEX)
    message = f"stands directly in the record, where only {contract.curated} and {contract.index} may"
    return _blame(replace(passed, role=Role.MISPLACED), "wrong-depth", message)


def _judge_rfc(parts: list[str], place: Place, contract: Contract) -> Place:
    if len(parts) == 2:
        return _blame(place, "wrong-depth", "stands in no class folder")
    if parts[1] in contract.classes:
        place = replace(place, class_name=parts[1])
    if len(parts) > 3:
        message = f"stands {len(parts) - 3} folder{'s' if len(parts) > 4 else ''} too deep"
        return _blame(place, "wrong-depth", message) if place.class_name else place
    return _judge_name(parts[2], place)


def _judge_name(name: str, place: Place) -> Place:
    if name.startswith("."):
        return _blame(place, "file-name", "the name starts with a dot, which hides the file")
    if not name.endswith(".md"):
        return _blame(place, "file-name", f"the name ends in {name[name.rindex('.') :]!r}, not in '.md'")
    dated = _DATED.fullmatch(name.removesuffix(".md"))
    if dated is None:
        return _blame(
            place, "file-name", "the name does not start with a date (yyyy-mm-dd-) and go on with a topic"
        )
    try:
        first_proposed = date.fromisoformat(dated["date"])
    except ValueError:
        return _blame(place, "file-name", f"{dated['date']} is no day of the calendar")
    place = replace(place, first_proposed=first_proposed)
    if not _TOPIC.fullmatch(dated["topic"]):
        message = f"the topic {dated['topic']!r} is not made of lower-case ASCII words joined by hyphens"
        return _blame(place, "file-name", message)
    return replace(place, topic=dated["topic"])


def _is_translation(name: str, contract: Contract) -> bool:
    stems = (name.removesuffix(f".{tag}.md") for tag in contract.translations if name.endswith(f".{tag}.md"))
    return any(stem and not stem.startswith(".") for stem in stems)


def _blame(place: Place, code: str, message: str, hint: str = "") -> Place:
    return replace(place, code=code, message=message, hint=hint)

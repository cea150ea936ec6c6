"""The index lists what stands in the record.

It is generated from the paths, titles and dates, and a reader trusts it to be whole. A file that cannot be
listed is blamed for that elsewhere and does not make the index stale; the wording of the banner is compared
by `dsh-rfc index --check`.
"""

import re
from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.index import HEADING, body_lines, untitled
from dsh_rfc.placement import Role
from dsh_rfc.rule import Rule, whole_record

_TARGET = re.compile(r"\]\(([^()\s]+)\) \| [0-9-]{10} \|$")

_INDEX = """# RFC index

Generated.

## Proposed

### Feature

| Title | First proposed |
|---|---|
| [Warm start](proposed/feature/2026-08-01-warm-start.md) | 2026-08-01 |

## Implemented

## Rejected
"""


def check(subject: Corpus, _: Corpus) -> Iterator[Finding]:
    """Report the first line of the index that is not as it is generated."""
    path = subject.locate(subject.contract.index)
    if subject.index is None:
        # what stands there unreadable is blamed for that, and a record without RFCs needs no index
        if subject.judged_paths and all(item.path != path for item in subject.located):
            yield Finding(path=path, message="there is no index")
        return
    if not subject.is_listed:
        return  # nobody knows which rows are missing; the folder is blamed
    present = list(subject.index.lines)
    start = _body_start(present)
    expected = [*body_lines(subject, _borrowed(subject, present)), ""]
    if present[0].strip() != HEADING:
        yield Finding(path=path, message=f"the index does not start with {HEADING!r}")
        return
    for offset, line in enumerate(expected):
        number = start + offset
        if number >= len(present):
            yield Finding(path=path, line=len(present), message=f"the index ends before {line!r}")
            return
        if present[number] != line:
            yield Finding(path=path, line=number + 1, message=_difference(present[number], line))
            return
    if len(present) > start + len(expected):
        yield Finding(path=path, line=start + len(expected) + 1, message="the index goes on after its end")


def _difference(present: str, expected: str) -> str:
    if not present.strip():
        return f"the index lacks {expected!r}"
    if not expected:
        return f"the index says {present!r}, which the record does not"
    return f"the index says {present!r} where the record says {expected!r}"


def _body_start(lines: list[str]) -> int:
    """Return where the lines below the heading and the banner paragraph start."""
    number = 1
    for blank in (True, False, True):
        while number < len(lines) and (not lines[number].strip()) is blank:
            number += 1
    return number


def _borrowed(corpus: Corpus, present: list[str]) -> dict[str, str]:
    """Return the rows of RFCs whose title cannot be known, as the index has them."""
    nameless = untitled(corpus)
    unknown = {
        f"{item.place.lifecycle}/{item.place.class_name}/{item.entry.name}"
        for item in corpus.located
        if item.place.role is Role.RFC and item.place.topic and (item.flaw is not None or item.path in nameless)
    }
    rows = {match[1]: line for line in present if (match := _TARGET.search(line))}
    return {target: row for target, row in rows.items() if target in unknown}


RULE = Rule(
    code="index-stale",
    summary="The index lists what stands in the record.",
    hint="run `dsh-rfc index`, with the same --root if one was given",
    doc=__doc__,
    over=whole_record,
    check=check,
    good={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n", "INDEX.md": _INDEX},
    bad={"proposed/feature/2026-08-01-warm-start.md": "# RFC: Warmer start\n", "INDEX.md": _INDEX},
)

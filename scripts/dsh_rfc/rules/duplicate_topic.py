"""One topic is one file.

The same file name in two folders is a move of which only half was done, and the same title twice is two
files about one thing: in both cases a reader may find the wrong one. Both places are reported.
"""

from collections.abc import Iterator

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.rfc import Rfc
from dsh_rfc.rule import Rule, whole_record


def check(subject: Corpus, _: Corpus) -> Iterator[Finding]:
    """Report files that share their name, then files of other names that share their title."""
    by_name: dict[str, list[str]] = {}
    for item in subject.located:
        if item.place.topic:
            by_name.setdefault(item.entry.name, []).append(item.path)
    for paths in by_name.values():
        for path in paths if len(paths) > 1 else ():
            others = ", ".join(other for other in paths if other != path)
            yield Finding(path=path, message=f"the same file name stands at {others}")
    by_title: dict[str, list[Rfc]] = {}
    for rfc in subject.rfcs:
        if rfc.title:
            by_title.setdefault(" ".join(rfc.title.casefold().split()), []).append(rfc)
    for rfcs in by_title.values():
        for rfc in rfcs if len(rfcs) > 1 else ():
            names = [other.path for other in rfcs if _name(other) != _name(rfc)]
            if names:
                line, column = rfc.header.title_line, rfc.header.title.column if rfc.header.title else 1
                message = f"the same title stands at {', '.join(names)}"
                yield Finding(path=rfc.path, line=line, column=column, message=message)


def _name(rfc: Rfc) -> str:
    return rfc.path.rpartition("/")[2]


RULE = Rule(
    code="duplicate-topic",
    summary="One topic is one file.",
    hint="keep one of them; a decision that replaces another has a topic and a title of its own",
    doc=__doc__,
    over=whole_record,
    check=check,
    good={
        "proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n",
        "proposed/feature/2026-08-01-cold-start.md": "# RFC: Cold start\n",
    },
    bad={
        "proposed/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n",
        "rejected/feature/2026-08-01-warm-start.md": "# RFC: Warm start\n",
    },
)

"""What the curated page states of the contract is what the gate enforces.

An author follows the page and is judged by the contract. The skeleton of each lifecycle, the table of classes, the
forms of the status line and the list of refused headings are compared with the contract both ways: what one of them
has and the other has not is a finding. Parts that the configuration lists under `prose-parts` must stand on the
page, in a shape that can be read; a part that is not listed is compared where it stands.
"""

from collections.abc import Iterator, Sequence

from dsh_rfc.contract import Contract
from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Finding
from dsh_rfc.prose import Listing, Prose, Skeleton, Stated, read_prose
from dsh_rfc.rule import Rule, whole_record
from dsh_rfc.status import read_status


def check(subject: Corpus, _: Corpus) -> Iterator[Finding]:
    """Report each place where page and contract differ."""
    page, contract = subject.curated, subject.contract
    if page is None:
        return
    prose = read_prose(page, contract)
    for line, message, hint in (
        *_skeletons(prose, contract),
        *_classes(prose, contract),
        *_statuses(prose, contract),
        *_banned(prose, contract),
    ):
        yield Finding(path=page.path, line=line, message=message, hint=hint)


Fault = tuple[int, str, str]


def _skeletons(prose: Prose, contract: Contract) -> Iterator[Fault]:
    is_required = "skeletons" in contract.prose_parts
    for lifecycle in contract.lifecycles:
        skeleton = prose.skeletons.get(lifecycle)
        if skeleton is not None:
            yield from _header(skeleton, lifecycle, contract, is_required=is_required)
            yield from _sections(skeleton, lifecycle, contract)
        elif is_required:
            message = f"no skeleton of a file in {lifecycle}/ can be found"
            hint = f"put one into a code block, under a heading `{lifecycle}/`"
            yield prose.headings.get(lifecycle, 1), message, hint


def _header(skeleton: Skeleton, lifecycle: str, contract: Contract, *, is_required: bool) -> Iterator[Fault]:
    title, status = f"# {contract.title_prefix}<title>", contract.status_form(lifecycle)
    if skeleton.title is None and skeleton.status is None and not is_required:
        return  # a page may show the header once and for all
    if skeleton.title is None:
        yield skeleton.line, "the skeleton has no title", f"write `{title}`"
    elif not skeleton.title.text.startswith(contract.title_prefix):
        message = f"the title of the skeleton does not start with {contract.title_prefix!r}"
        yield skeleton.title.line, message, f"write `{title}`"
    if skeleton.status is None:
        yield skeleton.line, "the skeleton has no status line", f"write `{status}`"
    elif read_status(skeleton.status.text, contract) != lifecycle:
        message = f"the gate accepts no {skeleton.status.text!r} in {lifecycle}/"
        yield skeleton.status.line, message, f"write `{status}`"


def _sections(skeleton: Skeleton, lifecycle: str, contract: Contract) -> Iterator[Fault]:
    ordered = tuple(dict.fromkeys((contract.first_section, *contract.of(lifecycle).required)))
    required = tuple(dict.fromkeys((*ordered, contract.alternatives_section)))
    names = [item.text for item in skeleton.sections]
    for name in required:
        if name not in names:
            message = f"the skeleton lacks a section that {lifecycle}/ requires: {name}"
            yield skeleton.line, message, f"add `## {name}`"
    in_order = iter([name for name in ordered if name in names])
    seen: set[str] = set()
    for position, item in enumerate(skeleton.sections):
        if item.text not in required:
            message = f"the skeleton has a section that {lifecycle}/ does not require: {item.text}"
            yield item.line, message, f"remove `## {item.text}`, or require it in the contract"
        elif item.text in seen:
            yield item.line, f"the skeleton has this section twice: {item.text}", f"keep one `## {item.text}`"
        elif position == 0 and contract.first_section in names and item.text != contract.first_section:
            yield item.line, "the skeleton does not open with its first section", f"open with `## {ordered[0]}`"
            return
        elif item.text in ordered and item.text != (expected := next(in_order)):
            message = f"the skeleton has {item.text} where the contract has {expected}"
            yield item.line, message, f"write the sections in this order: {', '.join(ordered)}"
            return
        seen.add(item.text)


def _classes(prose: Prose, contract: Contract) -> Iterator[Fault]:
    if prose.classes is not None:
        yield from _compare(prose.classes, prose.classes.values, contract.classes, "class")
    elif "classes" in contract.prose_parts:
        yield 1, "no table of the classes can be found", "write a table whose first column is headed `Class`"


def _statuses(prose: Prose, contract: Contract) -> Iterator[Fault]:
    if prose.statuses is not None:
        forms = tuple(contract.status_form(lifecycle) for lifecycle in contract.lifecycles)
        stated = [_in_the_contract_s_words(item, contract) for item in prose.statuses.values]
        yield from _compare(prose.statuses, stated, forms, "status form")
    elif "statuses" in contract.prose_parts:
        hint = "write a bullet list whose items are one code span each, such as `Status: proposed`"
        yield 1, "no list of the status forms can be found", hint


def _in_the_contract_s_words(item: Stated, contract: Contract) -> Stated:
    """Return a well-formed status in the words of the contract: what stands for the reason is free."""
    lifecycle = read_status(item.text, contract)
    return Stated(text=contract.status_form(lifecycle), line=item.line) if lifecycle else item


def _banned(prose: Prose, contract: Contract) -> Iterator[Fault]:
    for lifecycle in contract.lifecycles:
        forms = tuple(f"## {name}" for name in contract.of(lifecycle).banned)
        listing = prose.banned.get(lifecycle)
        if listing is not None:
            yield from _compare(listing, listing.values, forms, "refused heading")
        elif forms and "banned" in contract.prose_parts:
            message = f"no list of the headings that {lifecycle}/ refuses can be found"
            hint = f"list them as code spans under the heading `{lifecycle}/`: {', '.join(forms)}"
            yield prose.headings.get(lifecycle, 1), message, hint


def _compare(listing: Listing, stated: Sequence[Stated], wanted: Sequence[str], noun: str) -> Iterator[Fault]:
    """Report what is on one side only; the order, when nothing is."""
    names = [item.text for item in stated]
    hint = f"the contract has: {', '.join(wanted) or 'none'}"
    is_whole = True
    for name in wanted:
        if name not in names:
            is_whole = False
            yield listing.line, f"the page lacks a {noun} that the contract has: {name}", hint
    for position, item in enumerate(stated):
        if item.text not in wanted or item.text in names[:position]:
            is_whole = False
            message = f"the page has a {noun} that the contract has not: {item.text}"
            if item.text in wanted:
                message = f"the page has this {noun} twice: {item.text}"
            yield item.line, message, hint
    if is_whole and names != list(wanted):
        item = next(item for item, name in zip(stated, wanted, strict=True) if item.text != name)
        yield item.line, f"the page has the {noun} {item.text} at another place than the contract", hint


_PAGE = """# The record

| Class | What it covers |
|---|---|
| `feature` | Something new. |
| `bug-fix` | A defect mended. |
| `simplification` | Something taken away. |
| `architecture` | The structure of what ships. |
| `process` | What surrounds it. |
| `testing` | How behaviour is pinned. |
"""

RULE = Rule(
    code="contract-prose",
    summary="What the curated page states of the contract is what the gate enforces.",
    hint="make the page and the contract say the same",
    doc=__doc__,
    over=whole_record,
    check=check,
    good={"README.md": _PAGE},
    bad={"README.md": _PAGE.replace("| `testing` | How behaviour is pinned. |\n", "")},
)

"""From a corpus and rules to a report.

Owns running each rule over each of its subjects, isolating one that crashes, and the order of the answer.
Refuses to know any rule by name.
"""

from collections.abc import Callable, Iterable, Sequence
from fnmatch import filter as filter_codes
from typing import Any

from dsh_rfc.corpus import Corpus
from dsh_rfc.diagnostics import Crash, Diagnostic, Finding, Report
from dsh_rfc.errors import CodeUnknown
from dsh_rfc.rule import Rule

Wanted = Callable[[str], bool]


def run(corpus: Corpus, rules: Iterable[Rule[Any]], *, wanted: Wanted = lambda _: True) -> Report:
    """Return what the rules find.

    Args:
        corpus: What is judged.
        rules: In any order.
        wanted: Says of a path whether findings there are asked for.
    """
    found: set[Diagnostic] = set()
    crashes: list[Crash] = []
    for rule in rules:
        try:
            subjects = rule.over(corpus)
        except Exception as error:  # noqa: BLE001 - a rule's bug must not hide what other rules found
            crashes.append(Crash(code=rule.code, path=corpus.path, error=error))
            continue
        for subject in subjects:
            if subject is not corpus and not wanted(subject.path):
                continue
            try:
                findings = [item for item in rule.check(subject, corpus) if wanted(item.path)]
            except Exception as error:  # noqa: BLE001 - as above, and for one file only
                crashes.append(Crash(code=rule.code, path=subject.path, error=error))
                continue
            found.update(_diagnose(rule, item) for item in findings)
    checked = sum(1 for path in corpus.judged_paths if wanted(path))
    pages = sum(1 for path in corpus.paths_around if wanted(path))
    return Report(checked=checked, diagnostics=tuple(sorted(found)), crashes=tuple(crashes), pages=pages)


def _diagnose(rule: Rule[Any], finding: Finding) -> Diagnostic:
    return Diagnostic(
        path=finding.path,
        line=finding.line,
        column=finding.column,
        code=rule.code,
        message=finding.message,
        severity=rule.severity,
        hint=finding.hint or rule.hint,
    )


def choose(
    rules: Sequence[Rule[Any]], *, select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> tuple[Rule[Any], ...]:
    """Return the rules that are asked for.

    Args:
        rules: All there are.
        select: Codes to run, or patterns such as `link-*`; all when empty.
        ignore: Codes to leave out, or patterns.

    Raises:
        CodeUnknown: A code that no rule has, or a pattern that fits none.
    """
    known = [rule.code for rule in rules]
    for pattern in (*select, *ignore):
        if not filter_codes(known, pattern):
            raise CodeUnknown(pattern, known)
    chosen = {code for pattern in select for code in filter_codes(known, pattern)} if select else set(known)
    chosen -= {code for pattern in ignore for code in filter_codes(known, pattern)}
    return tuple(rule for rule in rules if rule.code in chosen)

"""The registry of rules, in the order of their pages: where a file stands, its header, its body, the record.

An explicit tuple, so that a rule is in force because somebody listed it; a test compares it with the folder.
"""

from typing import Any

from dsh_rfc.rule import Rule
from dsh_rfc.rules import (
    alternatives_both,
    alternatives_fence,
    alternatives_missing,
    duplicate_topic,
    file_name,
    header_blank_line,
    header_title,
    index_row,
    index_stale,
    legacy_marker,
    page_unreadable,
    problem_first,
    section_banned,
    section_empty,
    section_missing,
    section_repeated,
    status_folder,
    status_grammar,
    status_repeated,
    unknown_class,
    unknown_lifecycle,
    unreadable,
    wrong_depth,
)

RULES: tuple[Rule[Any], ...] = (
    file_name.RULE,
    unknown_lifecycle.RULE,
    unknown_class.RULE,
    wrong_depth.RULE,
    unreadable.RULE,
    header_title.RULE,
    header_blank_line.RULE,
    status_grammar.RULE,
    status_folder.RULE,
    status_repeated.RULE,
    problem_first.RULE,
    section_missing.RULE,
    section_empty.RULE,
    section_repeated.RULE,
    section_banned.RULE,
    alternatives_missing.RULE,
    alternatives_both.RULE,
    alternatives_fence.RULE,
    legacy_marker.RULE,
    duplicate_topic.RULE,
    index_stale.RULE,
    index_row.RULE,
    page_unreadable.RULE,
)

__all__ = ["RULES"]

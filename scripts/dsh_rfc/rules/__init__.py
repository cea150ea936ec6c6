"""The registry of rules, in the order of their pages: where a file stands, its header, its body, the record.

An explicit tuple, so that a rule is in force because somebody listed it; a test compares it with the folder.
"""

from typing import Any

from dsh_rfc.rule import Rule
from dsh_rfc.rules import (
    alternatives_both,
    alternatives_fence,
    alternatives_missing,
    contract_prose,
    duplicate_topic,
    fence_command,
    fence_syntax,
    file_name,
    header_blank_line,
    header_title,
    index_row,
    index_stale,
    legacy_marker,
    link_anchor,
    link_bare,
    link_escapes,
    link_external,
    link_image,
    link_missing,
    link_reference_missing,
    link_reference_repeated,
    link_reference_unused,
    mark_invalid,
    page_unreadable,
    pair_excluded,
    pair_incomplete,
    pair_required,
    pair_stale,
    pair_structure,
    pair_switcher,
    problem_first,
    ref_path,
    ref_symbol,
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
    wrap,
    wrong_depth,
)

RECORD_RULES: tuple[Rule[Any], ...] = (
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
)
"""What can be judged of any tree of RFCs on its own: format, placement, index."""

REPOSITORY_RULES: tuple[Rule[Any], ...] = (
    contract_prose.RULE,
    page_unreadable.RULE,
    link_missing.RULE,
    link_anchor.RULE,
    link_escapes.RULE,
    link_image.RULE,
    link_bare.RULE,
    link_external.RULE,
    link_reference_missing.RULE,
    link_reference_unused.RULE,
    link_reference_repeated.RULE,
    pair_incomplete.RULE,
    pair_stale.RULE,
    pair_switcher.RULE,
    pair_structure.RULE,
    pair_required.RULE,
    pair_excluded.RULE,
    ref_path.RULE,
    ref_symbol.RULE,
    fence_syntax.RULE,
    fence_command.RULE,
    mark_invalid.RULE,
    wrap.RULE,
)

"""What is judged of the repository around a record: every page, what it links to, names and mirrors."""

RULES = RECORD_RULES + REPOSITORY_RULES

__all__ = ["RECORD_RULES", "REPOSITORY_RULES", "RULES"]

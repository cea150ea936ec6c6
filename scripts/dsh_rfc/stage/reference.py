"""The reference pages that staging makes of the program itself: its command line, its rules, and their front page.

Owns these as Markdown. A document of the repository that stands at the same place wins over any of them.
"""

import inspect
from collections.abc import Iterable, Iterator

import click

from dsh_rfc.index import link_text
from dsh_rfc.pages import render_rule_page
from dsh_rfc.rules import RULES
from dsh_rfc.stage.languages import Language
from dsh_rfc.stage.page import Page, literal
from dsh_rfc.stage.sources import relative_page

INDEX = "reference/index.md"
COMMAND_LINE = "reference/cli.md"
RULES_FOLDER = "reference/rules"
RULES_INDEX = f"{RULES_FOLDER}/index.md"


def render_command(command: click.Command, name: str) -> str:
    """Return the reference of a command and its subcommands, below a heading of level 1."""
    return "\n".join(_command_lines(command, name, None, 1)).strip() + "\n"


def _command_lines(command: click.Command, name: str, parent: click.Context | None, depth: int) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    if depth > 1:
        yield f"{'#' * depth} `{context.command_path}`"
        yield ""
    paragraphs = inspect.cleandoc(command.help or "").replace("\b\n", "").strip().split("\n\n")
    yield "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    yield ""
    yield "```text"
    yield f"{context.command_path} {' '.join(command.collect_usage_pieces(context))}"
    yield "```"
    yield ""
    rows = [
        record for item in command.get_params(context) if (record := item.get_help_record(context)) and record[1]
    ]
    if rows:
        yield "| Option | What it does |"
        yield "|---|---|"
        yield from (f"| `{option.replace('|', chr(92) + '|')}` | {_prose(text)} |" for option, text in rows)
        yield ""
    if isinstance(command, click.Group):
        for child in sorted(command.list_commands(context)):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                yield from _command_lines(found, child, context, depth + 1)


def _prose(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("[", "\\[")


def rule_pages() -> Iterator[tuple[str, str]]:
    """Yield the place and the Markdown of each rule's page."""
    for rule in RULES:
        yield f"{RULES_FOLDER}/{rule.code}.md", render_rule_page(rule)


def render_rules_index(language: Language) -> Page:
    """Return the page that lists the rules."""
    rows = [f"| [`{rule.code}`]({rule.code}.md) | {link_text(rule.summary)} |" for rule in RULES]
    head = [f"| {language.say('rule')} | {language.say('rule_summary')} |", "|---|---|"]
    title = language.say("rules_title")
    body = "\n".join([language.say("rules_lead"), "", *head, *rows])
    return Page(path=RULES_INDEX, title=title, heading=title, body=body, text_tag=language.tag)


def render_reference_index(pages: Iterable[Page], language: Language) -> Page:
    """Return the front page of the reference.

    Args:
        pages: What it lists: the pages of the reference, or the first page of each part.
        language: Of the tree.
    """
    title = language.say("reference")
    items = [f"-   [{literal(page.title)}]({relative_page(page.path, INDEX)})" for page in pages]
    body = "\n".join([language.say("reference_lead"), "", *items])
    return Page(path=INDEX, title=title, heading=title, body=body, text_tag=language.tag)

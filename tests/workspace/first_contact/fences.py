"""Print the fenced blocks of one language of a Markdown page, as someone copies them from top to bottom.

Use: `fences.py PAGE LANGUAGE [NUMBER]`, the number counts from 1 and picks one block.
"""

import sys
from pathlib import Path

from markdown_it import MarkdownIt


def fences(page: Path, language: str) -> list[str]:
    """Return the blocks of a language, in the order of the page."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    return [token.content for token in tokens if token.type == "fence" and token.info.split()[:1] == [language]]


if __name__ == "__main__":
    found = fences(Path(sys.argv[1]), sys.argv[2])
    if not found:
        sys.exit(f"{sys.argv[1]} has no block of {sys.argv[2]}")
    chosen = [found[int(sys.argv[3]) - 1]] if len(sys.argv) > 3 else found
    sys.stdout.write("\n\n".join(chosen))

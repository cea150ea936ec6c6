"""What running the examples of a document needs: parsers that know our marks, and a namespace like a module's."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from types import ModuleType

import pytest
from sybil import Document, Example, Region
from sybil.document import PythonDocStringDocument
from sybil.evaluators.doctest import DocTestEvaluator
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.abstract.doctest import DocTestStringParser
from sybil.parsers.markdown import CodeBlockParser
from sybil.region import Lexeme
from sybil.typing import Evaluator

from dsh_rfc.document import Document as Page
from dsh_rfc.fences import RUNNABLE, Fence, read_fences
from dsh_rfc.marks import FAILS, NOT_RUN

RunExamples = Callable[[Path], int]


def run_marked(fence: Fence) -> Evaluator:
    """Return what runs a fence as its mark, if it has one, says."""
    run = PythonEvaluator()

    def evaluate(example: Example) -> str | None:
        if fence.is_marked(NOT_RUN):
            return None
        if not fence.is_marked(FAILS):
            run(example)
            return None
        try:
            run(example)
        except Exception:  # noqa: BLE001 - which error it is, the text says
            return None
        return "the fence is marked as failing, and does not fail"

    return evaluate


def parse_markdown(path: Path) -> Document:
    """Return the Python fences of a Markdown file, found as the gates find them."""

    def fences(document: Document) -> Iterator[Region]:
        page = Page(path=path.name, text=document.text)
        starts = [0, *accumulate(len(line) + 1 for line in page.lines)]
        for fence in read_fences(page):
            if fence.language in RUNNABLE:
                start = starts[fence.line - 1] + fence.column - 1
                yield Region(start, start + 3, Lexeme(fence.text, 0, 0), run_marked(fence))

    return Document.parse(str(path), fences)


def parse_docstrings(path: Path) -> Document:
    """Return the prompts and the Python fences in the docstrings of a module."""
    prompts = DocTestStringParser(DocTestEvaluator())

    def doctests(document: Document) -> Iterator[Region]:
        yield from prompts(document.text, document.path)

    def fences(document: Document) -> Iterator[Region]:
        if "```" in document.text:
            yield from CodeBlockParser("python", PythonEvaluator())(document)

    document = PythonDocStringDocument.parse(str(path), doctests, fences)
    document.evaluators.clear()  # the module is imported under its own name, by whoever asked
    return document


@pytest.fixture
def run_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunExamples:
    """Return a runner of all examples of a file, in one namespace and a folder of their own; it counts them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(path: Path, module: ModuleType | None = None) -> int:
        document = parse_docstrings(path) if path.suffix == ".py" else parse_markdown(path)
        space = ModuleType(f"examples_in_{path.stem.replace('-', '_').replace('.', '_')}")
        space.__file__ = str(path)
        monkeypatch.setitem(sys.modules, space.__name__, space)  # where a class looks its annotations up
        if module is not None:
            vars(space).update({name: value for name, value in vars(module).items() if not name.startswith("__")})
        document.namespace = vars(space)
        count = 0
        for example in document:
            example.evaluate()
            count += 1
        return count

    return run

"""The site: staging against the builder that comes after it, on this repository and on a thousand RFCs."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
RFCS = 1000


def rows() -> Iterator[tuple[str, float, float | None, str]]:
    """Yield the whole build; the floor of a row about staging is a tenth of its build."""
    script = _script()
    with tempfile.TemporaryDirectory() as folder:
        built = script.build(ROOT, Path(folder) / "real", with_diagrams=False)
        pages = sum(built.pages.values())
        yield "site: this repository, two languages, strict", built.total_s, None, f"{pages} pages; budget 30 s"
        yield "site: staging of it", built.staged_s, built.total_s / 10, "floor: a tenth of the build"
        many = Path(folder) / "many"
        _write_many(many)
        built = script.build(many, Path(folder) / "many-out", with_diagrams=False)
        pages = sum(built.pages.values())
        yield f"site: {RFCS} RFCs, two languages, strict", built.total_s, None, f"{pages} pages; budget 180 s"
        yield "site: staging of them", built.staged_s, built.total_s / 10, "floor: a tenth of the build"


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_script", ROOT / "scripts" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _write_many(folder: Path) -> None:
    """Write a repository whose record is this one's, repeated, each RFC linking to the one before."""
    models = sorted((ROOT / "docs" / "rfc" / "implemented").rglob("2*.md"))
    models = [model for model in models if not model.name.endswith(".zh.md")]
    folder.mkdir()
    (folder / ".git").mkdir()
    shutil.copy(ROOT / "mkdocs.yml", folder)
    docs = folder / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Many\n\n[The record](rfc/README.md)\n")
    before = ""
    for number in range(RFCS):
        model = models[number % len(models)]
        name = f"{2000 + number // 300}-{1 + number // 25 % 12:02}-{1 + number % 25:02}-number-{number}.md"
        target = docs / "rfc" / "implemented" / model.parent.name / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # A copy's links to other RFCs lead nowhere here.
        text = model.read_text(encoding="utf-8").replace("](", "] (")
        link = f"\n\nSee [the one before](../{before}).\n" if before else "\n"
        target.write_text(text.rstrip() + link, encoding="utf-8")
        before = f"{model.parent.name}/{name}"
    (docs / "rfc" / "README.md").write_text("# The record\n\n[All of them](INDEX.md)\n")

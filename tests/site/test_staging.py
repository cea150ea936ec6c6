from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import yaml

from dsh_rfc.cli import cli
from dsh_rfc.configuration import Repository
from dsh_rfc.errors import RecordMissing, WriteFailed
from dsh_rfc.stage.settings import SettingsInvalid
from dsh_rfc.stage.staging import stage

FIRST = "rfc/implemented/process/2026-01-01-first.md"
SECOND = "rfc/rejected/feature/2025-02-01-second.md"
THIRD = "rfc/implemented/process/2026-03-01-third.md"


@pytest.fixture
def staged(small: Repository, tmp_path: Path) -> Path:
    """The small repository, staged with a diagram library."""
    library = tmp_path / "library.js"
    library.write_text("// drawn")
    stage(small, tmp_path / "out", command=cli, diagram_script=library)
    return tmp_path / "out"


def page(staged: Path, path: str, tag: str = "en") -> str:
    """Return a staged page."""
    return (staged / tag / "docs" / path).read_text(encoding="utf-8")


def test_both_trees_have_the_same_pages(staged: Path) -> None:
    """The language switch stays on the page, so each page has to stand in both."""
    trees = {
        tag: {
            path.relative_to(staged / tag).as_posix()
            for path in (staged / tag / "docs").rglob("*")
            if path.is_file()
        }
        for tag in ("en", "zh")
    }
    assert trees["en"] == trees["zh"]
    assert {"docs/index.md", f"docs/{FIRST}", "docs/rfc/index.md", "docs/rfc/contract.md"} <= trees["en"]


def test_a_page_without_a_counterpart_is_the_other_text_under_a_notice(staged: Path) -> None:
    """A reader must not take a missing translation for the only text there is."""
    text = page(staged, "guides/first.md", "zh")
    assert "本页尚无中文版" in text
    assert 'text_language: "en"' in text
    assert "a list right after it" in text
    assert "本页尚无中文版" not in page(staged, THIRD, "zh")
    assert "text_language" not in page(staged, THIRD, "zh")


def test_the_switch_line_under_a_title_is_left_to_the_header(staged: Path) -> None:
    """Two switches on one page, of which one leads to a file, confuse."""
    assert "[English]" not in page(staged, "index.md", "zh")
    assert "中文](index.zh.md)" not in page(staged, "index.md")
    assert "[English]" not in page(staged, THIRD, "zh")


def test_a_link_that_leaves_the_documents_leads_to_the_api_or_to_the_web_view(staged: Path) -> None:
    """The same relative link has to work on GitHub and on the site."""
    text = page(staged, "guides/first.md")
    assert "[the module](../reference/api/one/part.md)" in text
    assert "[a test](https://github.com/dsh-py/dsh/blob/main/tests/test_one.py)" in text
    assert "[tests](https://github.com/dsh-py/dsh/tree/main/tests)" in text


def test_the_front_pages_of_the_record_are_the_explorer_and_the_contract(staged: Path) -> None:
    """Links to README and INDEX are in every RFC and must go on working."""
    text = page(staged, "index.md")
    assert "[record](rfc/contract.md)" in text
    assert "[list](rfc/index.md)" in text


def test_a_link_into_the_other_language_leaves_the_tree(staged: Path) -> None:
    """A builder sees one language only and cannot resolve it."""
    assert "[the Chinese text](../../zh/rfc/contract/#规则)" in page(staged, "rfc/contract.md")
    assert "[the Chinese text](contract.md#规则)" not in page(staged, "rfc/contract.md")


def test_a_chinese_link_to_a_chinese_page_stays_in_the_tree(staged: Path) -> None:
    """Otherwise the reader of a translation is sent back to English at each step."""
    assert "[记录](rfc/contract.md)" in page(staged, "index.md", "zh")
    assert "[第一篇](2026-01-01-first.md)" in page(staged, THIRD, "zh")


def test_a_translated_heading_is_reached_by_the_anchor_of_the_other_language_too(staged: Path) -> None:
    """English pages stand in the Chinese tree and link to English anchors."""
    text = page(staged, "rfc/contract.md", "zh")
    assert '<a id="rules"></a>\n\n## 规则 { #规则 }' in text
    assert '<a id="details"></a>' in text
    assert "<a id" not in page(staged, "rfc/contract.md")


def test_lists_and_fences_are_written_as_python_markdown_reads_them(staged: Path) -> None:
    """CommonMark nests by two spaces and right after a paragraph; Python-Markdown does not."""
    text = page(staged, "guides/first.md")
    assert "Paragraph:\n\n-   a list right after it\n" in text
    assert "    -   nested by two\n\n        ```python\n        fenced" in text
    assert '!!! note "Note"\n\n    An alert.' in text


def test_inline_text_survives_the_extensions_of_the_builder(staged: Path) -> None:
    """A brace is no attribute list and a bracket pair is no cross-reference."""
    text = page(staged, "guides/first.md")
    assert "a brace &#123;like this}" in text
    assert "[pair]&#91;of brackets]" in text
    assert "| `x|y` | a \\| b |" in text


def test_headings_have_the_anchors_of_github(staged: Path) -> None:
    """The builder numbers repeated headings in another way."""
    text = page(staged, "guides/first.md")
    assert "## Twice { #twice }" in text
    assert "## Twice { #twice-1 }" in text


def test_diagrams_are_their_source_when_the_library_is_missing(small: Repository, tmp_path: Path) -> None:
    """The theme would fetch the library from another host as soon as it sees a diagram."""
    stage(small, tmp_path / "out")
    text = page(tmp_path / "out", "guides/first.md")
    assert "```mermaid" not in text
    assert "```text\nflowchart LR" in text
    assert "diagram:" not in text
    assert not list((tmp_path / "out").rglob("mermaid*"))


def test_diagrams_stay_diagrams_when_the_library_is_there(staged: Path) -> None:
    """And only pages with one load it."""
    assert "```mermaid\nflowchart LR" in page(staged, "guides/first.md")
    assert "diagram: true" in page(staged, "guides/first.md")
    assert "diagram:" not in page(staged, "index.md")
    assert (staged / "en/docs/assets/mermaid.min.js").read_text() == "// drawn"


def test_an_rfc_page_carries_its_facts_and_its_back_links(staged: Path) -> None:
    """They are computed here, so that no builder has to know what an RFC is."""
    text = page(staged, FIRST)
    assert "Status: implemented" not in text
    assert 'rfc-badge--implemented" data-value="implemented">implemented</span>' in text
    assert '<time datetime="2026-01-01">' in text
    assert f"https://github.com/dsh-py/dsh/edit/main/docs/{FIRST}" in text
    relations = text.partition("## Referenced by")[2]
    assert "-   [A third &#124; with a pipe](2026-03-01-third.md)" in relations
    assert "-   [one](../../../reference/api/one/index.md)" in relations
    assert "Later: [A third" in relations


def test_an_rfc_page_leads_to_its_editing_once(staged: Path) -> None:
    """The page has a sign for it at the top already."""
    front, _, body = page(staged, FIRST).removeprefix("---\n").partition("---\n")
    assert "/edit/main/" in front
    assert "/edit/main/" not in body


def test_every_exported_name_leads_to_where_it_is_defined(staged: Path) -> None:
    """Also one that is imported on first use, and through another package, as the main classes may be."""
    text = page(staged, "reference/api/one/index.md")
    assert "| [`Thing`](part.md#one.part.Thing) | [`one.part`](part.md) |" in text
    assert "| [`own`](#one.own) | [`one`](index.md) |" in text
    assert '      members: ["own"]' in text
    assert "      members: false" in page(staged, "reference/api/one/inner/index.md")
    assert "| [`Other`](inner/other.md#one.inner.other.Other) | [`one.inner.other`](inner/other.md) |" in text


def test_packages_stand_in_the_order_of_their_names(staged: Path) -> None:
    """Their folders have other names, whose order nobody sees."""
    rows = [line for line in page(staged, "reference/api/index.md").splitlines() if line.startswith("| [")]
    assert [row.split("`")[1] for row in rows] == ["a_two", "one"]


def test_a_readme_stands_for_the_docstring_of_its_package(staged: Path) -> None:
    """Both begin with the same sentence."""
    assert "show_docstring_description: false" in page(staged, "reference/api/one/index.md")
    assert "show_docstring_description" not in page(staged, "reference/api/a_two/index.md")


def test_the_document_for_contributors_is_a_page(staged: Path) -> None:
    """It stands where hosts of repositories look for it, outside of the documentation."""
    text = page(staged, "contributing/index.md")
    assert "[the record](../rfc/contract.md)" in text
    assert "[a test](https://github.com/dsh-py/dsh/blob/main/tests/test_one.py)" in text
    assert "/edit/main/CONTRIBUTING.md" in text
    assert "[how to contribute](../contributing/index.md)" in page(staged, "i18n/index.md")
    assert "本页尚无中文版" in page(staged, "contributing/index.md", "zh")


def test_only_a_page_that_is_one_table_takes_the_room_of_the_contents(staged: Path, small: Repository) -> None:
    """With sections the contents are worth more, and lines of prose must not be too long to read."""
    assert "hide:" not in page(staged, "guides/first.md")
    (small.folder / "docs/guides/first.md").write_text("# One\n\n| a | b |\n|---|---|\n| c | d |\n")
    stage(small, staged)
    assert 'hide: ["toc"]' in page(staged, "guides/first.md")


def test_a_rejected_rfc_says_why_at_the_top(staged: Path) -> None:
    """The reason is what its reader comes for."""
    assert '<p class="rfc-reason">costs more than it gives</p>' in page(staged, SECOND)


def test_the_explorer_is_a_whole_table_of_links(staged: Path) -> None:
    """It is complete without a script."""
    rows = [line for line in page(staged, "rfc/index.md").splitlines() if line.startswith("| [")]
    assert [row.partition("](")[2].partition(")")[0] for row in rows] == [
        THIRD.removeprefix("rfc/"),
        FIRST.removeprefix("rfc/"),
        SECOND.removeprefix("rfc/"),
    ]
    assert "[第三篇]" in page(staged, "rfc/index.md", "zh")
    assert "[The first one](implemented/process/2026-01-01-first.md){ lang=en }" in page(
        staged, "rfc/index.md", "zh"
    )


@pytest.mark.parametrize("tag", ["en", "zh"])
def test_the_published_list_satisfies_the_published_schema(staged: Path, tag: str) -> None:
    """A program that reads the one relies on the other."""
    folder = staged / tag / "docs" / "rfc"
    data = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    schema = json.loads((folder / "index.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(data)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({**data, "rfcs": [{"title": "alone"}]})
    first = next(item for item in data["rfcs"] if item["path"].endswith("first.md"))
    prefix = "" if tag == "en" else "zh/"
    assert first["url"] == f"https://dsh-py.github.io/dsh/{prefix}rfc/implemented/process/2026-01-01-first/"
    assert first["class"] == "process"
    assert first["last_changed"] is None


def test_the_feed_is_atom_in_the_language_of_its_tree(staged: Path) -> None:
    """Readers tell feeds apart by language and by id."""
    atom = "{http://www.w3.org/2005/Atom}"
    ids = set()
    for tag, title in (("en", "A third | with a pipe"), ("zh", "第三篇")):
        feed = ET.fromstring((staged / tag / "docs/rfc/feed.xml").read_text(encoding="utf-8"))  # noqa: S314 - our own
        assert feed.get("{http://www.w3.org/XML/1998/namespace}lang") == tag
        entries = feed.findall(f"{atom}entry")
        assert entries[0].findtext(f"{atom}title") == title
        assert all(entry.findtext(f"{atom}updated") for entry in entries)
        ids |= {entry.findtext(f"{atom}id") for entry in entries}
    assert len(ids) == 6


def test_each_page_has_its_markdown_beside_it(staged: Path) -> None:
    """A language model reads the source, with links that lead to sources."""
    text = (staged / "en/public" / THIRD).read_text(encoding="utf-8")
    assert text.startswith("# RFC: A third | with a pipe\n\nStatus: implemented\n")
    assert "[the first](2026-01-01-first.md)" in text
    assert "{ #" not in text
    pages = {path.relative_to(staged / "en/docs").as_posix() for path in (staged / "en/docs").rglob("*.md")}
    sources = {path.relative_to(staged / "en/public").as_posix() for path in (staged / "en/public").rglob("*.md")}
    assert pages == sources
    listed = (staged / "en/docs/llms.txt").read_text(encoding="utf-8")
    assert all(f"(https://dsh-py.github.io/dsh/{path})" in listed for path in sources)


def menu(staged: Path, tag: str) -> list[dict[str, Any]]:
    """Return the menu of a language."""
    nav = yaml.safe_load((staged / tag / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert isinstance(nav, list)
    return nav


def leaves(nav: object) -> list[str]:
    """Return the pages of a menu."""
    if isinstance(nav, str):
        return [nav]
    if isinstance(nav, dict):
        return [leaf for value in nav.values() for leaf in leaves(value)]
    assert isinstance(nav, list)
    return [leaf for item in nav for leaf in leaves(item)]


def test_guides_stand_in_the_order_in_which_their_front_page_names_them(staged: Path) -> None:
    """A reader begins at the top, in the menu as in the list for language models."""
    order = ["guides/index.md", "guides/first.md", "guides/another.md"]
    assert [path for path in leaves(menu(staged, "en")) if path.startswith("guides/")] == order
    listed = (staged / "en/docs/llms.txt").read_text(encoding="utf-8")
    places = [listed.index(f"/dsh/{path})") for path in order]
    assert places == sorted(places)


def test_the_sections_of_the_menu_begin_with_a_capital_and_none_is_a_remainder(staged: Path) -> None:
    """What is a word in a badge is a title here."""
    sections = {name: value for item in menu(staged, "en") for name, value in item.items()}
    assert list(sections) == ["Home", "Guides", "Design record", "Reference", "Contributing"]
    assert sections["Contributing"] == ["contributing/index.md", {"Translations": "i18n/index.md"}]
    lifecycles = [item for item in sections["Design record"] if isinstance(item, dict)]
    assert [name for item in lifecycles for name in item] == ["The contract", "Implemented", "Rejected"]
    assert "Process" in lifecycles[1]["Implemented"][0]


def test_the_menu_names_every_page_once(staged: Path) -> None:
    """No page is an orphan, and a builder need not be told which may be."""
    for tag in ("en", "zh"):
        named = leaves(menu(staged, tag))
        pages = {
            path.relative_to(staged / tag / "docs").as_posix() for path in (staged / tag / "docs").rglob("*.md")
        }
        assert sorted(named) == sorted(pages)


def test_private_modules_and_instructions_are_not_published(staged: Path) -> None:
    """What readers cannot use or are not meant by has no page."""
    names = {path.name for path in (staged / "en/docs").rglob("*.md")}
    assert "part.md" in names
    assert not {"_hidden.md", "AGENTS.md"} & names


def test_staging_again_touches_only_what_changed_and_removes_what_is_gone(
    small: Repository, tmp_path: Path
) -> None:
    """A watching builder would otherwise build everything, and a removed page would stay on the site."""
    out = tmp_path / "out"
    stage(small, out)
    assert stage(small, out).written == 0
    for guide in (small.folder / "docs/guides").glob("*.md"):
        guide.unlink()
    (small.folder / "docs/index.md").write_text("# Project\n", encoding="utf-8")
    (small.folder / "docs" / SECOND).write_text("# RFC: Second\n\nStatus: rejected — no\n", encoding="utf-8")
    assert 0 < stage(small, out).written < 40
    assert not (out / "en/docs/guides/first.md").exists()
    assert not (out / "en/public/guides").exists()


def test_a_folder_that_was_not_staged_is_left_alone(small: Repository, tmp_path: Path) -> None:
    """A wrong --out must not cost somebody's files."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("three years")
    with pytest.raises(WriteFailed):
        stage(small, tmp_path / "mine")
    assert (tmp_path / "mine/thesis.txt").read_text() == "three years"


def test_the_same_input_makes_the_same_bytes(small: Repository, tmp_path: Path) -> None:
    """A site that differs from run to run cannot be reviewed."""
    stage(small, tmp_path / "one/out")
    stage(small, tmp_path / "two/out")
    one, two = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("one", "two")
    )
    assert one == two


def test_a_document_that_is_no_text_is_named(small: Repository, tmp_path: Path) -> None:
    """The builder would speak of a staged file that nobody wrote."""
    (small.folder / "docs/guides/bad.md").write_bytes(b"# Bad\n\n\xff\n")
    with pytest.raises(RecordMissing, match=r"docs/guides/bad\.md:3:1"):
        stage(small, tmp_path / "out")


def test_a_configuration_without_an_address_is_named(small: Repository, tmp_path: Path) -> None:
    """Feed and list need absolute addresses."""
    file = small.folder / "mkdocs.yml"
    file.write_text(file.read_text(encoding="utf-8").replace("site_url:", "other_url:"), encoding="utf-8")
    with pytest.raises(SettingsInvalid, match="site_url"):
        stage(small, tmp_path / "out")


def _git(folder: Path, *arguments: str, date: str = "2026-05-01T12:00:00+00:00") -> None:
    names = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = names | {
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_DATE": date,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
    }
    subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


def _dates(staged: Path) -> dict[str, str | None]:
    data = json.loads((staged / "en/docs/rfc/index.json").read_text(encoding="utf-8"))
    return {Path(item["path"]).stem: item["last_changed"] for item in data["rfcs"]}


@pytest.fixture
def recorded(small: Repository) -> Repository:
    """The small repository under version control, with two commits."""
    (small.folder / ".git").rmdir()
    _git(small.folder, "init", "-q", "-b", "main")
    _git(small.folder, "add", ".")
    _git(small.folder, "commit", "-q", "-m", "one")
    file = small.folder / "docs" / THIRD
    file.write_text(file.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    _git(small.folder, "commit", "-q", "-a", "-m", "two", date="2026-06-02T23:30:00-05:00")
    return small


def test_a_last_change_is_the_last_commit_in_universal_time(recorded: Repository, tmp_path: Path) -> None:
    """The date must not depend on where the committer or the builder lives."""
    stage(recorded, tmp_path / "out")
    assert _dates(tmp_path / "out") == {
        "2026-01-01-first": "2026-05-01T12:00:00Z",
        "2026-03-01-third": "2026-06-03T04:30:00Z",
        "2025-02-01-second": "2026-05-01T12:00:00Z",
    }


def test_a_shallow_clone_knows_no_dates_beyond_its_edge(recorded: Repository, tmp_path: Path) -> None:
    """At its edge every file seems to be new, which would date them all alike and wrongly."""
    _git(tmp_path, "clone", "-q", "--depth", "1", recorded.folder.as_uri(), "clone")
    clone = Repository(folder=tmp_path / "clone", contract=recorded.contract)
    stage(clone, tmp_path / "out")
    assert set(_dates(tmp_path / "out").values()) == {None}


def test_the_real_corpus_is_staged_without_a_dead_link(
    real_corpus: Path, small: Repository, tmp_path: Path
) -> None:
    """A hundred RFCs that other people wrote hold what a fixture would not think of."""
    (real_corpus / "mkdocs.yml").write_bytes((small.folder / "mkdocs.yml").read_bytes())
    staged = stage(Repository(folder=real_corpus, contract=small.contract), tmp_path / "out")
    assert staged.pages["en"] > 112
    docs = tmp_path / "out/en/docs"
    data = json.loads((docs / "rfc/index.json").read_text(encoding="utf-8"))
    assert len(data["rfcs"]) == 112
    assert sum(len(item["referenced_by"]) for item in data["rfcs"]) > 112


@pytest.fixture
def real_corpus(tmp_path: Path) -> Path:
    """A copy of the corpus of RFCs."""
    import os
    import shutil

    folder = os.environ.get("DSH_CORPUS")
    if not folder:
        pytest.skip("DSH_CORPUS names no corpus")
    shutil.copytree(Path(folder) / "conforming", tmp_path / "corpus", copy_function=shutil.copyfile)
    for path in (tmp_path / "corpus").rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    (tmp_path / "corpus").chmod(0o755)
    return tmp_path / "corpus"

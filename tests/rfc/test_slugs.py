"""Anchors of headings: GitHub's rule, its properties, and that the site is built with the same."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dsh_rfc.anchors import read_anchors
from dsh_rfc.document import Document
from dsh_rfc.slugs import Slugger, slug
from dsh_rfc.stage.inline import Targets
from dsh_rfc.stage.reprint import reprint

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("A period.txt", "a-periodtxt"),
        ("a - dash", "a---dash"),
        ("snake_case & more", "snake_case--more"),
        ("I ♥ this", "i--this"),
        ("🚀 Launch", "-launch"),
        (":rocket: Launch", "rocket-launch"),
        ("em—dash", "emdash"),
        ("it’s", "its"),  # noqa: RUF001 - the apostrophe that people type
        ("Привет", "привет"),
        ("为什么？", "为什么"),  # noqa: RUF001 - the question mark that people type
        ("x² ½ ① Ⅳ Ⓐ", "x---ⅳ-ⓐ"),
        ("ΣΑΣ", "σασ"),  # noqa: RUF001 - Greek
        ("_x_ ‿", "_x_-‿"),
        (" a ", "-a-"),
        ("a\tb", "ab"),
        ("é (composed) é (not)", "é-composed-é-not"),
        ("", ""),
    ],
)
def test_the_anchor_of_a_heading_is_the_one_that_github_makes(text, anchor):
    """These were looked at in what GitHub renders, or follow from how it describes the rule."""
    assert slug(text) == anchor


@pytest.mark.parametrize(
    ("texts", "anchors"),
    [
        (["a", "a", "a"], ["a", "a-1", "a-2"]),
        (["a-1", "a", "a"], ["a-1", "a", "a-2"]),
        (["a", "a", "a 1", "a-1", "a"], ["a", "a-1", "a-1-1", "a-1-2", "a-2"]),
        (["!", "?"], ["", "-1"]),
    ],
)
def test_a_repeated_heading_is_numbered_past_what_is_taken(texts, anchors):
    """Two headings with one anchor would be one heading too few to link to."""
    slugger = Slugger()
    assert [slugger.take(text) for text in texts] == anchors


@given(WORDS)
@example("İ")
def test_an_anchor_holds_no_space_and_no_capital_and_is_its_own_anchor(text):
    """A link that was copied from an anchor leads there again."""
    anchor = slug(text)
    assert not re.search(r"\s", anchor)
    assert all(character.lower() == character for character in anchor)
    assert slug(anchor) == anchor
    assert all(unicodedata.category(c)[0] in "LMNPS" for c in anchor)


@given(st.lists(WORDS, max_size=12))
def test_no_two_headings_of_a_page_have_one_anchor(texts):
    """Whatever their words are."""
    slugger = Slugger()
    anchors = [slugger.take(text) for text in texts]
    assert len(set(anchors)) == len(anchors)


@given(st.lists(st.text("aB1-_ 为🚀.`*&!", min_size=1, max_size=8), min_size=1, max_size=6))
@example(["![alt text](x.png) b", "a", "a", "[b](c) `d_e`", "f {#g}", "\\*h\\* &amp; i"])
def test_the_site_gives_a_heading_the_anchor_that_links_are_judged_by(texts):
    """A link that is right on GitHub is right on the site, because the site is handed these very anchors."""
    page = Document(path="a.md", text="# Title\n\n" + "\n\n".join(f"## x{text}" for text in texts) + "\n")
    keep = Targets(markdown=str, html=str)
    body = reprint(page, keep, omit=frozenset()).body
    written = re.findall(r"^## .*\{ #(\S*) \}$", body, re.MULTILINE)
    assert written == list(read_anchors(page)[1:])


def test_headings_in_lists_and_quotes_have_anchors_and_those_in_code_have_none():
    """Which is what a reader sees when hovering over them."""
    page = Document(path="a.md", text="# A\n\n> ## B\n\n- ## C\n\n```\n## D\n```\n\n    ## E\n\n\\## F\n")
    assert read_anchors(page) == ("a", "b", "c")

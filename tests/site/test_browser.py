"""What a reader sees and does, in a real browser over the built site. Without Chromium these tests skip."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine; .ci/run installs it"),
]

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests here; its event loop must not be left running for those of another module."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def address(built: Path, serve: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The small site below a path of its host, as project pages are."""
    root = tmp_path_factory.mktemp("host")
    (root / "project").symlink_to(built, target_is_directory=True)
    return serve(root) + "/project/"


@pytest.fixture(scope="session")
def real_address(built_real: Path, serve: Callable[[Path], str]) -> str:
    """The site of this repository."""
    return serve(built_real) + "/"


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator[Open]:
    """Open pages; afterwards, none has complained or asked another host for anything."""
    complaints: list[str] = []
    contexts = []

    def start(path: str, *, base: str = address, size: dict[str, int] = DESKTOP, **options: object) -> Page:
        context = browser.new_context(viewport=size, locale="en-GB", **options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("response", lambda got: complaints.append(f"{got.status} {got.url}") if got.status >= 400 else None)
        page.on("request", lambda asked: complaints.append(asked.url) if _leaves(asked.url) else None)
        page.goto(base + path, wait_until="load")
        return page

    yield start
    for context in contexts:
        context.close()
    assert complaints == []


def _leaves(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname != "127.0.0.1"


def shown(page: Page) -> list[str]:
    """Return the titles that the filter leaves."""
    return [
        text.strip() for text in page.locator(".rfc-explorer tbody tr:visible td:first-child").all_inner_texts()
    ]


def test_filtering_narrows_the_list_and_stands_in_the_address(open_page: Open) -> None:
    """A filtered list is something to send to somebody."""
    page = open_page("rfc/")
    assert len(shown(page)) == 3
    page.get_by_label("Status").select_option("implemented")
    assert shown(page) == ["A third | with a pipe", "The first one"]
    page.get_by_label("Year").select_option("2026")
    page.get_by_label("Text", exact=True).fill("THIRD pipe")
    assert shown(page) == ["A third | with a pipe"]
    expect(page.get_by_role("status")).to_have_text("1 of 3 RFCs")
    assert "status=implemented" in page.url
    page.reload()
    assert shown(page) == ["A third | with a pipe"]
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("status")).to_have_text("3 of 3 RFCs")
    assert "?" not in page.url


def test_an_address_with_a_filter_opens_filtered_and_without_the_search(open_page: Open) -> None:
    """The theme takes a parameter `q` for its own search."""
    page = open_page("rfc/?class=feature&text=second")
    assert shown(page) == ["Second"]
    assert not page.locator("[data-md-toggle=search]").is_checked()
    page = open_page("rfc/?class=nonsense")
    assert len(shown(page)) == 3


def test_the_list_is_used_by_keyboard(open_page: Open) -> None:
    """A mouse must not be needed, and the theme's single-letter shortcuts must not eat what is typed."""
    page = open_page("rfc/")
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.type("first")
    assert shown(page) == ["The first one"]
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_have_text("3 of 3 RFCs")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "The first one"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.name") == "text"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/2026-03-01-third/")


def test_the_list_is_whole_without_javascript(open_page: Open) -> None:
    """And shows no control that would do nothing."""
    page = open_page("rfc/", java_script_enabled=False)
    assert page.locator(".rfc-explorer tbody tr").count() == 3
    assert page.locator(".rfc-explorer select").count() == 0
    assert (
        page.locator(".rfc-explorer tbody a").first.get_attribute("href") == "implemented/process/2026-03-01-third/"
    )


def test_the_language_switch_stays_on_the_page(open_page: Open) -> None:
    """Whoever changes the language wants to go on reading."""
    page = open_page("rfc/implemented/process/2026-03-01-third/")
    page.get_by_role("button", name="Select language").hover()
    page.locator(".md-select__link[hreflang=zh]").click()
    page.wait_for_url("**/project/zh/rfc/implemented/process/2026-03-01-third/")
    assert page.locator("html").get_attribute("lang") == "zh"
    expect(page.locator("h1")).to_contain_text("第三篇")
    assert "首次提出" in page.locator(".rfc-facts").inner_text()
    page.locator(".md-header .md-select").hover()
    page.locator(".md-select__link[hreflang=en]").click()
    page.wait_for_url("**/project/rfc/implemented/process/2026-03-01-third/")


def test_a_page_without_a_counterpart_says_so_and_in_which_language_it_is(open_page: Open) -> None:
    """Screen readers choose a voice by it."""
    page = open_page("zh/guides/first/")
    expect(page.locator(".dsh-fallback")).to_contain_text("本页尚无中文版")
    assert page.locator("article h2").first.evaluate("element => element.closest('[lang]').lang") == "en"
    assert page.locator(".dsh-fallback").evaluate("element => element.closest('[lang]').lang") == "zh"


@pytest.mark.parametrize(
    ("path", "query", "found"),
    [
        ("", "struck out", "guides/first/"),
        ("zh/", "向量时钟", "zh/rfc/implemented/process/2026-03-01-third/"),
    ],
)
def test_search_finds_a_phrase(open_page: Open, path: str, query: str, found: str) -> None:
    """Chinese has no spaces, so an index that splits at them finds nothing."""
    page = open_page(path)
    page.locator(".md-search__input").click()
    page.locator(".md-search__input").press_sequentially(query)
    page.keyboard.press("End")  # the theme waits for a key, which a whole Chinese word is not
    first = page.locator(".md-search-result__link").first  # results come while the query is typed
    expect(first).to_have_attribute("href", re.compile(re.escape(f"/project/{found}")), timeout=20_000)


def test_a_diagram_is_drawn(open_page: Open, has_diagrams: bool) -> None:
    """From the local file; the theme would fetch it from another host."""
    if not has_diagrams:
        pytest.skip("npm could not get the diagram library, so diagrams are shown as their source")
    page = open_page("guides/first/")
    drawn = page.locator("div.mermaid")
    drawn.wait_for(state="attached")
    page.wait_for_function("document.querySelector('div.mermaid').getBoundingClientRect().height > 20")
    assert page.locator("pre.mermaid").count() == 0


def test_dark_mode_follows_the_system_and_the_toggle(open_page: Open) -> None:
    """Both are promises that readers make use of at night."""
    page = open_page("rfc/", color_scheme="dark")
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    dark = page.locator("body").evaluate("element => getComputedStyle(element).backgroundColor")
    page.locator("label.md-header__button[title=Light]").click()
    page.wait_for_function("document.body.dataset.mdColorScheme === 'default'")
    assert page.locator("body").evaluate("element => getComputedStyle(element).backgroundColor") != dark


def test_copied_markdown_and_feed_are_where_the_page_says(open_page: Open, address: str) -> None:
    """Links to files are no pages, so the builder does not check them."""
    page = open_page("rfc/implemented/process/2026-01-01-first/")
    link = page.locator("a[type='text/markdown']")
    got = page.request.get(str(link.evaluate("element => element.href")))
    assert got.text().startswith("# RFC: The `first` one")
    feed = page.locator("link[type='application/atom+xml']").evaluate("element => element.href")
    assert feed == f"{address}rfc/feed.xml"
    assert page.request.get(feed).ok


def test_every_page_is_three_clicks_away_and_no_link_is_dead(built: Path) -> None:
    """A page that nobody reaches might as well not be there."""
    for prefix in ("", "zh/"):
        pages = {
            path.parent.relative_to(built).as_posix()
            for path in built.rglob("index.html")
            if path.relative_to(built).as_posix().startswith("zh/") == bool(prefix)
        }
        start = prefix.rstrip("/") or "."
        reached = {start}
        for _ in range(3):
            reached |= {target for page in reached for target in _links(built, page)}
        assert pages - reached == set()


def _links(site: Path, page: str) -> set[str]:
    """Return the folders of the pages that a page links to; fails on a link to nothing."""
    html = (site / page / "index.html").read_text(encoding="utf-8")
    found = set()
    for href in re.findall(r"<a[^>]* href=\"([^\"]*)\"", html):
        target = href.partition("#")[0].partition("?")[0]
        if not target or ":" in target:
            continue
        path = (site / page / target).resolve()
        assert path.exists(), f"{page} links to {href}"
        if path.is_dir():
            assert (path / "index.html").is_file(), f"{page} links to {href}"
            found.add(path.relative_to(site.resolve()).as_posix())
    return found


REAL_PAGES = (
    "",
    "zh/",
    "rfc/",
    "zh/rfc/contract/",
    "rfc/implemented/architecture/2026-11-30-writer-ownership/",
    "rfc/rejected/architecture/2026-06-14-in-log-metadata-event/",
    "reference/site/",
    "reference/cli/",
    "reference/events/",
    "reference/rules/header-title/",
    "reference/api/dsh_session/",
    "reference/api/dsh_session/session/",
)


@pytest.mark.parametrize("path", REAL_PAGES)
def test_the_real_site_is_sound_on_a_phone_and_on_a_desk(open_page: Open, real_address: str, path: str) -> None:
    """No console error, no request to elsewhere, no sideways scroll, no serious finding of axe, light and dark."""
    page = open_page(path, base=real_address, size=PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert serious(page) == []
    page = open_page(path, base=real_address, color_scheme="dark")
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    assert serious(page) == []


def serious(page: Page) -> list[str]:
    """Return what axe finds that keeps somebody from reading."""
    response = Axe().run(page, options={"resultTypes": ["violations"]}).response
    return [
        f"{found['id']}: {node['html'][:150]} {node['failureSummary'][:250]}"
        for found in response["violations"]
        if found["impact"] in {"serious", "critical"}
        for node in found["nodes"]
    ]


HEADINGS = """element => [...document.querySelectorAll(':is(h1, h2, h3, h4)')].map(found => found.clientHeight)"""


@pytest.mark.parametrize("path", ["", "reference/site/", "reference/api/dsh_session/session/"])
def test_the_sign_beside_a_heading_takes_no_room(open_page: Open, real_address: str, path: str) -> None:
    """It is out of sight, so neither an empty line after a full one nor a sideways scroll may come of it."""
    page = open_page(path, base=real_address)
    page.wait_for_load_state("networkidle")  # a diagram moves what is below it
    signs = "document.querySelectorAll('.headerlink').forEach(sign => sign.style.display = '{}')"
    for width in (360, 390, 412, 800, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(signs.format(""))
        heights = page.evaluate(HEADINGS)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(signs.format("none"))
        assert page.evaluate(HEADINGS) == heights, width


BROKEN = """() => [...document.querySelectorAll('td code')]
  .filter(code => !/\\s/.test(code.textContent) && code.textContent.length <= 32)
  .filter(code => code.getClientRects().length > 1).map(code => code.textContent)"""


@pytest.mark.parametrize("path", ["", "reference/events/", "reference/packages/", "reference/configuration/"])
def test_a_name_in_a_table_stands_on_one_line(open_page: Open, real_address: str, path: str) -> None:
    """A name that is cut in two is neither recognized nor found; the table scrolls instead, by keyboard too."""
    for size in (PHONE, DESKTOP):
        page = open_page(path, base=real_address, size=size)
        assert page.evaluate(BROKEN) == []
        for wrap in page.locator(".md-typeset__scrollwrap").all():
            scrolls = wrap.evaluate("element => element.scrollWidth > element.clientWidth")
            assert wrap.get_attribute("tabindex") == ("0" if scrolls else None)


def test_a_name_in_the_menu_is_shown_whole(open_page: Open, real_address: str) -> None:
    """Packages whose names begin alike would look the same when they are cut at the edge."""
    page = open_page("reference/api/dsh_session/", base=real_address)
    names = page.locator(".md-nav--primary .md-nav__link .md-ellipsis:visible")
    assert names.count() > 10
    for name in names.all():
        assert name.evaluate("element => element.scrollWidth <= element.clientWidth"), name.inner_text()


def test_every_public_name_is_documented(built_real: Path) -> None:
    """The table of a package is how its classes are found."""
    seen = 0
    for index in (built_real / "reference/api").rglob("index.html"):
        html = index.read_text(encoding="utf-8").partition('id="exports"')[2].partition("</table>")[0]
        for cell in re.findall(r"<tr>\s*<td>(.*?)</td>", html, re.DOTALL):
            target = re.search(r'href="([^"#]*)(?:#([^"]+))?"', cell)
            assert target, f"{index.parent.name}: {cell}"
            found = (index.parent / target[1] / "index.html").resolve().read_text(encoding="utf-8")
            # a name of a module leads to the module's page
            assert f'id="{target[2]}"' in found if target[2] else target[1], f"{index.parent.name}: {cell}"
            seen += 1
    assert seen > 100

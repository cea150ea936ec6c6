"""Other hosts: a server on loopback is asked, politely, and nobody is asked unprompted."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dsh_rfc import external
from dsh_rfc.addresses import bare_address, fault_of_address, is_somebody
from dsh_rfc.external import Prober

REPOSITORY = Path(__file__).parents[2]


@dataclass(kw_only=True)
class Host:
    """A server that remembers what it was asked, and how many requests a name of it had at one time."""

    base: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    busiest: int = 0
    open: Counter[str] = field(default_factory=Counter)
    agents: set[str] = field(default_factory=set)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def paths(self) -> list[str]:
        """Return the paths that were asked for."""
        return [path for _, path in self.asked]


def handler_of(host: Host) -> type[BaseHTTPRequestHandler]:
    """Return a handler whose path says what it answers: `/200`, `/head-405`, `/to/200`, `/round`."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            with host.guard:
                name = self.headers["Host"]
                host.open[name] += 1
                host.busiest = max(host.busiest, host.open[name])
                host.asked.append((self.command, self.path))
                host.agents.add(self.headers["User-Agent"])
            time.sleep(0.01)
            with host.guard:
                host.open[name] -= 1  # before the answer leaves: its reader may ask again at once
            name = self.path.partition("?")[0]
            if name.startswith("/to/"):
                self.send_response(302)
                self.send_header("Location", name.removeprefix("/to"))
            elif name == "/across":
                self.send_response(307)
                self.send_header("Location", f"{host.base}/200?{self.path}")
            elif name == "/round":
                self.send_response(301)
                self.send_header("Location", "/round")
            elif name == "/away":
                self.send_response(302)
                self.send_header("Location", "file:///etc/hosts")
            elif name.startswith("/head-"):
                self.send_response(int(name.removeprefix("/head-")) if self.command == "HEAD" else 200)
            elif name == "/slow":
                time.sleep(1.5)
                self.send_response(200)
            else:
                self.send_response(int(name.strip("/")))
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET = _answer  # noqa: N815 - names that the server looks up

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@pytest.fixture
def host(monkeypatch) -> Iterator[Host]:
    """Serve on loopback for the length of a test."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    found = Host()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(found))
    found.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def prober() -> Callable[..., Prober]:
    """Return a maker of probers that ask this machine, without a pause."""

    def make(**options: object) -> Prober:
        return Prober(**{"asks": lambda _: True, "pause_s": 0.0, "timeout_s": 5.0, **options})  # type: ignore[arg-type]

    return make


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/200", ""),
        ("/204", ""),
        ("/404", "answered 404"),
        ("/410", "answered 410"),
        ("/500", "answered 500"),
        ("/403", ""),
        ("/401", ""),
        ("/429", ""),
        ("/503", ""),
        ("/head-405", ""),
        ("/head-404", ""),
        ("/head-501", ""),
        ("/to/200", ""),
        ("/to/to/200", ""),
        ("/to/404", "answered 404"),
        ("/round", "leads on more than 10 times"),
        ("/away", "leads on to file:///etc/hosts"),
    ],
)
def test_a_page_is_dead_only_when_its_host_says_so(host, prober, path, fault):
    """A page that wants a login, or patience, is there; some hosts answer HEAD wrongly and GET right."""
    assert prober()([host.base + path]) == {host.base + path: fault}


def test_a_get_is_sent_only_where_a_head_was_no_good(host, prober):
    """A HEAD costs the host nothing."""
    prober()([f"{host.base}/200", f"{host.base}/head-405"])
    assert sorted(host.asked) == [("GET", "/head-405"), ("HEAD", "/200"), ("HEAD", "/head-405")]
    assert all(agent.startswith("dsh-rfc/") for agent in host.agents)


def test_a_host_has_one_request_at_a_time_and_a_page_is_asked_for_once(host, prober):
    """Fragments and repetitions are no reason to ask again."""
    addresses = [f"{host.base}/200?{number}" for number in range(6)]
    found = prober()([*addresses, *addresses, *(f"{address}#part" for address in addresses)])
    assert len(found) == 12
    assert Counter(host.paths()).most_common(1)[0][1] == 1
    assert len(host.asked) == 6
    assert host.busiest == 1


def test_a_page_that_leads_to_another_host_waits_for_its_turn_there(host, prober):
    """Redirects of many hosts to one must not become a crowd."""
    other = host.base.replace("127.0.0.1", "localhost")
    found = prober()(
        [f"{base}/{page}{n}" for n in range(5) for base, page in ((host.base, "200?"), (other, "across?"))]
    )
    assert set(found.values()) == {""}
    assert len(host.asked) == 15
    assert host.busiest == 1


def test_a_host_that_asks_for_patience_is_left_alone(host, prober):
    """More requests would only annoy it."""
    found = prober()([f"{host.base}/429", *(f"{host.base}/x{number}" for number in range(5))])
    assert set(found.values()) == {""}
    assert host.paths() == ["/429"]


def test_good_answers_are_remembered_for_a_while_and_bad_ones_are_not(host, prober, tmp_path):
    """What was mended should be seen at once, and what was right rarely changes within a week."""
    moment = [1_000_000.0]
    cache = tmp_path / "deep" / "cache.json"
    ask = prober(cache=cache, now=lambda: moment[0], max_age_s=60.0)
    pages = [f"{host.base}/200", f"{host.base}/404"]
    first = ask(pages)
    assert json.loads(cache.read_text(encoding="utf-8")) == {pages[0]: 1_000_000.0}
    host.asked.clear()
    assert ask(pages) == first
    assert set(host.paths()) == {"/404"}
    moment[0] += 61
    host.asked.clear()
    ask(pages)
    assert set(host.paths()) == {"/200", "/404"}


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a": "b"}', b"\xff"])
def test_a_cache_that_cannot_be_read_costs_requests_and_nothing_else(host, prober, tmp_path, content):
    """It is a file that anybody may have written to."""
    cache = tmp_path / "cache.json"
    cache.write_bytes(content)
    page = f"{host.base}/200"
    assert prober(cache=cache)([page]) == {page: ""}
    assert list(json.loads(cache.read_text(encoding="utf-8"))) == [page]


def test_a_host_that_is_not_there_is_named_as_the_fault(prober):
    """Nothing listens on port 1 of this machine."""
    (fault,) = prober()(["http://127.0.0.1:1/x"]).values()
    assert fault.startswith("cannot be reached")


def test_a_host_that_does_not_answer_in_time_is_given_up(host, prober):
    """A check that hangs is interrupted and tells nothing."""
    page = f"{host.base}/slow"
    assert prober(timeout_s=0.2)([page]) == {page: "did not answer in 0.2 s"}


@pytest.mark.parametrize(
    ("address", "answer"),
    [
        ("https://docs.python.org/3/", True),
        ("https://localhost:8000/", False),
        ("http://127.0.0.1/", False),
        ("http://[::1]:80/", False),
        ("https://example.org/x", False),
        ("https://api.example.com/", False),
        ("https://printer.local/", False),
        ("https://a.test/", False),
        ("https://example.org.evil.net/", True),
    ],
)
def test_names_that_are_kept_for_examples_are_asked_nothing(address, answer):
    """Documents are full of them, and none leads anywhere."""
    assert is_somebody(address) is answer


def test_an_address_is_asked_for_in_ascii_and_without_its_fragment():
    """Which is what a browser sends."""
    assert bare_address("HTTPS://Bücher.example/ü x?y=ä#z") == "https://xn--bcher-kva.example/%C3%BC%20x?y=%C3%A4"
    assert bare_address("https://a.example") == "https://a.example/"
    assert bare_address("https://a.example/%20?b=c%2Fd") == "https://a.example/%20?b=c%2Fd"


def test_an_address_that_reads_well_has_no_fault():
    """And a wrong one says what is wrong."""
    assert fault_of_address("https://a.example/b?c=d#e") == ""
    assert fault_of_address("https:///b") == "names no host"
    assert fault_of_address("https://a.example:x/").startswith("is no address")


def test_the_command_reports_a_dead_page_where_it_is_linked_to_and_only_on_request(  # noqa: PLR0917 - fixtures
    host, prober, write_tree, proposed, run_command, monkeypatch
):
    """Without the option nothing leaves the machine."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(write_tree({}) / "cache"))
    cache = external.cache_file()
    monkeypatch.setattr(external, "Prober", prober)
    folder = write_tree(
        {
            "docs/rfc/proposed/feature/2026-08-01-warm-start.md": proposed("Warm start"),
            "README.md": f"[a]({host.base}/200)\n\n{host.base}/404 is bare.\n",
        }
    )
    assert run_command("check", "README.md", cwd=folder).code == 0
    assert host.asked == []
    outcome = run_command("check", "README.md", "--external", cwd=folder)
    assert outcome.code == 1
    assert outcome.out.splitlines()[0] == f"README.md:3:1: link-external {host.base}/404 answered 404"
    assert cache.is_relative_to(folder)
    assert cache.exists()


@pytest.mark.repository
def test_no_gate_asks_other_hosts():
    """Their verdict must not depend on the weather."""
    for name in ("Makefile", ".ci/run", "scripts/gates.py", ".pre-commit-hooks.yaml"):
        assert "--external" not in (REPOSITORY / name).read_text(encoding="utf-8")

"""Asking other hosts whether the pages that are linked to are there.

Owns the network, which nothing else in the gates touches, and only when somebody asks for it; the manners: one
request to a host at a time with a pause after each, HEAD before GET, no more of a host that asks for patience; and
the memory of what answered. Refuses to find links and to judge: the rule `link-external` does.

Flow: addresses -> those that answered lately, by the cache -> the others, host by host -> why each is dead, or "".
"""

import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from dsh_rfc import __version__
from dsh_rfc.addresses import bare_address, fault_of_address, is_somebody

_DAY_S = 24 * 60 * 60
_MAX_HOPS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_FOR_US = frozenset({401, 402, 403, 405, 406, 407, 451, 999})  # the page is there, and for somebody else
_PATIENCE = frozenset({429, 503})


@dataclass(frozen=True, kw_only=True)
class Prober:
    """Asks hosts for pages.

    Attributes:
        cache: File that remembers when an address answered; None remembers nothing.
        timeout_s: How long a host may take.
        pause_s: How long a host is left alone after each answer.
        max_age_s: How long an answer is believed. Only good ones are: what was dead may have been mended.
        max_hosts: How many hosts are asked at the same time.
        asks: Says of an address whether it is asked at all.
        now: Returns the Unix epoch in seconds.
    """

    cache: Path | None = None
    timeout_s: float = 10.0
    pause_s: float = 1.0
    max_age_s: float = 7 * _DAY_S
    max_hosts: int = 8
    asks: Callable[[str], bool] = is_somebody
    now: Callable[[], float] = time.time
    _locks: dict[str, threading.Lock] = field(default_factory=dict, repr=False, compare=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _tired: set[str] = field(default_factory=set, repr=False, compare=False)

    def __call__(self, addresses: Iterable[str]) -> Mapping[str, str]:
        """Return per address why it is dead: nothing for one that lives, or of which the host does not speak."""
        given = dict.fromkeys(addresses)
        wanted = {
            bare_address(address) for address in given if not fault_of_address(address) and self.asks(address)
        }
        answered = self._recall()
        by_host: dict[str, list[str]] = {}
        for address in sorted(wanted - answered.keys()):
            by_host.setdefault(_host(address), []).append(address)
        faults: dict[str, str | None] = {}
        with ThreadPoolExecutor(max_workers=self.max_hosts) as pool:
            for found in pool.map(self._ask_all, by_host.values()):
                faults.update(found)
        moment = self.now()
        answered.update({address: moment for address, fault in faults.items() if fault == ""})
        self._remember(answered)
        return {address: faults.get(bare_address(address)) or "" for address in given}

    def _ask_all(self, addresses: list[str]) -> Mapping[str, str | None]:
        return {address: self._ask(address) for address in addresses}

    def _ask(self, address: str) -> str | None:
        """Return why an address is dead, nothing when it lives, None when its host would not say."""
        opener = _opener()
        at = address
        for _ in range(_MAX_HOPS):
            if _host(at) in self._tired:
                return None
            status, onward = self._request(opener, at)
            if isinstance(status, str):
                return status
            if status in _REDIRECTS and onward:
                at = bare_address(urljoin(at, onward))
                if urlsplit(at).scheme not in {"http", "https"} or fault_of_address(at):
                    return f"leads on to {onward}"
                continue
            if status in _PATIENCE:
                self._tired.add(_host(at))
                return None
            return "" if status < 400 or status in _NOT_FOR_US else f"answered {status}"
        return f"leads on more than {_MAX_HOPS} times"

    def _request(self, opener: OpenerDirector, address: str) -> tuple[int | str, str]:
        status, onward = self._send(opener, address, "HEAD")
        is_answer = isinstance(status, int) and (status < 400 or status in _PATIENCE)
        return (status, onward) if is_answer or isinstance(status, str) else self._send(opener, address, "GET")

    def _send(self, opener: OpenerDirector, address: str, method: str) -> tuple[int | str, str]:
        headers = {"User-Agent": f"dsh-rfc/{__version__} (link check)", "Accept": "*/*"}
        request = Request(address, method=method, headers=headers)  # noqa: S310 - http and https alone get here
        with self._lock_of(_host(address)):
            try:
                with opener.open(request, timeout=self.timeout_s) as answer:
                    return int(answer.status), ""
            except HTTPError as error:
                with error:
                    return error.code, error.headers.get("Location", "")
            except TimeoutError:
                return f"did not answer in {self.timeout_s:g} s", ""
            except URLError as error:
                is_late = isinstance(error.reason, TimeoutError)
                return f"did not answer in {self.timeout_s:g} s" if is_late else _unreachable(error.reason), ""
            except (OSError, HTTPException, ValueError) as error:
                return _unreachable(error), ""
            finally:
                time.sleep(self.pause_s)

    def _lock_of(self, host: str) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(host, threading.Lock())

    def _recall(self) -> dict[str, float]:
        if self.cache is None:
            return {}
        try:
            kept = json.loads(self.cache.read_text(encoding="utf-8"))
            oldest = self.now() - self.max_age_s
            return {str(address): float(moment) for address, moment in kept.items() if float(moment) > oldest}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}  # a memory that is lost costs requests, and no verdict

    def _remember(self, answered: Mapping[str, float]) -> None:
        if self.cache is None:
            return
        with suppress(OSError):  # as above
            self.cache.parent.mkdir(parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self.cache.parent, prefix=".external-")
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(answered, file, indent=0, sort_keys=True)
            Path(temporary).replace(self.cache)


def _opener() -> OpenerDirector:
    """Return what sends requests, and follows nothing: where an answer leads on to may be a host that is busy."""
    opener = OpenerDirector()
    for handler in (ProxyHandler, HTTPHandler, HTTPSHandler, HTTPDefaultErrorHandler, HTTPErrorProcessor):
        opener.add_handler(handler())
    return opener


def cache_file() -> Path:
    """Return where answers are remembered on this machine."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "dsh-rfc" / "external.json"


def _host(address: str) -> str:
    return urlsplit(address).netloc


def _unreachable(reason: object) -> str:
    return f"cannot be reached: {getattr(reason, 'strerror', None) or reason}"

"""A small repository with everything that staging has to cope with, and the site that is built from it."""

from __future__ import annotations

import functools
import http.server
import importlib.util
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from dsh_rfc.configuration import Repository, find_repository

ROOT = Path(__file__).resolve().parents[2]

RFC = """# RFC: {title}

Status: {status}

## Problem

{problem}

## Alternatives considered

None was proposed.
"""

FILES = {
    "docs/index.md": """# Project

English | [中文](index.zh.md)

Read the [record](rfc/README.md), the [list](rfc/INDEX.md#implemented) or [a guide](guides/first.md).
""",
    "docs/index.zh.md": """# 项目

[English](index.md) | 中文

请阅读[记录](rfc/README.zh.md)。会话持久化协议说明了存储方式。
""",
    "docs/guides/first.md": """# First guide

Paragraph:
- a list right after it
  - nested by two
    ```python
    fenced = "in a list"
    ```
- see [the module](../../packages/one/src/one/part.py), [a test](../../tests/test_one.py) and [tests](../../tests)

> [!NOTE]
> An alert.

| a | b |
|---|:-:|
| `x\\|y` | a \\| b |

Struck ~~out~~, a brace {like this}, and an unknown [pair][of brackets].

## Twice

## Twice

```mermaid
flowchart LR
    a --> b
```

[Back to the second](#twice-1), ![a dot](dot.svg)
""",
    "docs/guides/dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><circle r="2"/></svg>\n',
    "docs/guides/another.md": "# Another guide\n\nText.\n",
    "docs/guides/README.md": "# Guides\n\n1. [First](first.md)\n2. [Another](another.md)\n",
    "docs/i18n/README.md": "# Translations\n\nSee [how to contribute](../../CONTRIBUTING.md).\n",
    "CONTRIBUTING.md": "# Contributing\n\nRead [the record](docs/rfc/README.md) and [a test](tests/test_one.py).\n",
    "docs/rfc/README.md": """# The record

See [the list](INDEX.md) and [the Chinese text](README.zh.md#规则).

## Rules

Text.

### Details

Text.
""",
    "docs/rfc/README.zh.md": "# 记录\n\n参见[列表](INDEX.md)。\n\n## 规则\n\n文字。\n\n### 细则\n\n文字。\n",
    "docs/rfc/INDEX.md": "# RFC index\n",
    "docs/rfc/implemented/process/2026-01-01-first.md": RFC.format(
        title="The `first` one", status="implemented", problem="See [the rules](../../README.md#rules)."
    ),
    "docs/rfc/implemented/process/2026-03-01-third.md": RFC.format(
        title="A third | with a pipe",
        status="implemented",
        problem="It follows [the first](2026-01-01-first.md).",
    ),
    "docs/rfc/implemented/process/2026-03-01-third.zh.md": RFC.format(
        title="第三篇",
        status="implemented",
        problem="[English](2026-03-01-third.md) | 中文\n\n"
        "它接续[第一篇](2026-01-01-first.md)。向量时钟同步是关键。",
    ),
    "docs/rfc/rejected/feature/2025-02-01-second.md": RFC.format(
        title="Second",
        status="rejected — costs more than it gives",
        problem="See [first guide](../../../guides/first.md).",
    ),
    "docs/rfc/proposed/AGENTS.md": "# For those who write\n",
    "packages/one/README.md": "# one\n\nIt is made as "
    "[the first](../../docs/rfc/implemented/process/2026-01-01-first.md) says.\n",
    "packages/one/src/one/__init__.py": '''"""One package."""

from typing import TYPE_CHECKING

from one.part import Thing

if TYPE_CHECKING:
    from one.inner import Other

__all__ = ["Other", "Thing", "own"]


def own() -> None:
    """Defined here."""
''',
    "packages/one/src/one/inner/__init__.py": '''"""An inner package."""

from one.inner.other import Other

__all__ = ["Other"]
''',
    "packages/one/src/one/inner/other.py": '''"""Another part."""


class Other:
    """Imported on first use."""
''',
    "packages/two/src/a_two/__init__.py": '"""A second package, in a folder that comes later."""\n',
    "packages/one/src/one/part.py": '''"""A part."""


class Thing:
    """A thing.

    Example:
        >>> 1 + 1
        2
    """
''',
    "packages/one/src/one/_hidden.py": '"""Not public."""\n',
    "tests/test_one.py": "",
}


def write_repository(folder: Path) -> Repository:
    """Write the small repository, with the real configuration of the builder."""
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / ".git").mkdir(exist_ok=True)  # the top of a repository, though not one that git accepts
    shutil.copy(ROOT / "mkdocs.yml", folder / "mkdocs.yml")
    return find_repository(folder)


@pytest.fixture
def small(tmp_path: Path) -> Repository:
    """A fresh small repository."""
    folder = tmp_path / "repository"
    folder.mkdir()
    return write_repository(folder)


@pytest.fixture(scope="session")
def site_script() -> ModuleType:
    """The script that builds the site, as a module."""
    spec = importlib.util.spec_from_file_location("site_script", ROOT / "scripts" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def has_diagrams(site_script: ModuleType) -> bool:
    """Whether the diagram library can be had; it is fetched once, into the ignored build folder."""
    return site_script.diagram_library(ROOT / "build" / "cache") is not None


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, has_diagrams: bool) -> Path:
    """The site of the small repository, built strictly in both languages."""
    folder = tmp_path_factory.mktemp("small")
    write_repository(folder)
    return build_site(folder, folder / "build", has_diagrams=has_diagrams)


@pytest.fixture(scope="session")
def built_real(tmp_path_factory: pytest.TempPathFactory, has_diagrams: bool) -> Path:
    """The site of this repository, built strictly in both languages, outside of its tree."""
    return build_site(ROOT, tmp_path_factory.mktemp("real"), has_diagrams=has_diagrams)


def build_site(root: Path, out: Path, *, has_diagrams: bool) -> Path:
    """Build as a user does, and return the folder of the site."""
    (out / "cache").mkdir(parents=True, exist_ok=True)
    for file in (ROOT / "build" / "cache").glob("*.js"):
        shutil.copy(file, out / "cache")
    command = [sys.executable, str(ROOT / "scripts" / "site.py"), "build", "--root", str(root), "--out", str(out)]
    done = subprocess.run(
        [*command, *([] if has_diagrams else ["--without-diagrams"])], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "site"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the overridden method
        """Say nothing."""


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], str]]:
    """Serve folders on loopback; returns the address without a slash at the end."""
    servers: list[http.server.ThreadingHTTPServer] = []

    def start(folder: Path) -> str:
        handler = functools.partial(_Quiet, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()

"""The demonstration and the documents of the agent are true."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "packages" / "agent" / "README.md"
GUIDE = ROOT / "docs" / "guides" / "resume-an-agent.md"
pytestmark = pytest.mark.repository


@pytest.mark.crash
def test_the_demonstration_prints_what_the_readme_shows_and_can_run_again(tmp_path):
    """A transcript that nobody runs is a claim."""
    (block,) = re.findall(r"```text\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "dsh_agent.demo"], capture_output=True, cwd=tmp_path, timeout=120, check=False
        )
        assert done.stderr.decode() == ""
        assert done.returncode == 0
        assert done.stdout.decode().replace("\r\n", "\n") == block
    assert list(tmp_path.iterdir()) == []


def test_the_front_page_shows_the_same_demonstration():
    """One transcript is checked by running it; the other one has to be it."""
    front = ROOT / "README.md"
    if not front.exists():
        pytest.skip("the front page is not part of this package's source distribution")
    blocks = [
        re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL) for page in (front, README)
    ]
    assert blocks[0] == blocks[1]


@pytest.mark.crash
@pytest.mark.parametrize("document", [README, GUIDE], ids=["readme", "guide"])
def test_every_python_example_runs_from_top_to_bottom(document, tmp_path):
    """Whoever copies them expects them to work."""
    fences = re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)
    assert fences
    program = tmp_path / "examples.py"
    program.write_text("\n".join(fences), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)], capture_output=True, cwd=tmp_path, timeout=120, check=False
    )
    assert done.stderr.decode() == ""
    assert done.returncode == 0

"""A writer that is killed at any moment loses nothing that it acknowledged."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = 50


@pytest.mark.crash
@pytest.mark.slow
def test_fifty_killed_writers_lose_nothing_that_was_acknowledged(tmp_path):
    """An acknowledgement that a crash can take back is none."""
    script = Path(__file__).parents[1] / "jsonl" / "crashing.py"
    command = [sys.executable, str(script), f"sqlite:{tmp_path / 'sessions.db'}", str(KILLS), "20260616"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == KILLS
    assert report["flushes"] > KILLS
    assert report["acknowledged"] > 10 * KILLS

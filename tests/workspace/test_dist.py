"""What is published: complete, the same for the same commit, and refused when something is missing."""

import hashlib
import io
import json
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import dist as dist_script

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("archives")]


def digests(folder: Path) -> dict[str, str]:
    """Return the hash of every archive."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def rewrite(wheel: Path, target: Path, *, drop: str = "", replace: tuple[str, str] | None = None) -> None:
    """Copy a wheel without the files whose name contains `drop`, or with a text of its metadata replaced."""
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            data = source.read(name)
            if replace and name.endswith("/METADATA"):
                data = data.decode().replace(*replace).encode()
            if not drop or drop not in name:
                copy.writestr(name, data)


def test_every_distribution_has_one_wheel_and_one_sdist(dist):
    """A forgotten member would be noticed by the first who installs it."""
    names = {one.name.replace("-", "_") for one in dist_script.distributions(dist_script.ROOT)}
    assert len(names) == 6
    assert {path.name.partition("-")[0] for path in dist.glob("*.whl")} == names
    assert {path.name.partition("-")[0] for path in dist.glob("*.tar.gz")} == names


def test_two_builds_of_one_commit_have_the_same_bytes(clone, dist, tmp_path, execute):
    """Whoever doubts an archive can build it and compare, even from another folder and with other file modes."""
    for path in clone.glob("packages/*/src/*/*.py"):
        path.chmod(0o755)
    (clone / "packages" / "session" / "src" / "dsh_session" / "untracked.py").write_text("raise SystemExit\n")
    done = execute(sys.executable, "scripts/dist.py", "--out", tmp_path / "again", cwd=clone)
    assert "the tree differs from the commit" in done.ok()
    assert digests(tmp_path / "again") == digests(dist)


def test_no_archive_knows_where_it_was_built(dist, repository):
    """A path of the builder's machine is a leak, and makes the bytes depend on the machine."""
    needle = str(repository).encode()
    for path in dist.glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            assert not [name for name in archive.namelist() if needle in archive.read(name)]
    for path in dist.glob("*.tar.gz"):
        with tarfile.open(path) as archive:
            files = [member for member in archive.getmembers() if member.isfile()]
            found = [
                member.name for member in files if needle in (archive.extractfile(member) or io.BytesIO()).read()
            ]
            assert not found


def test_a_readme_on_an_index_links_into_the_repository(dist):
    """A relative link leads nowhere on the page of an index."""
    for path in dist.glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            text = archive.read(name).decode().partition("\n\n")[2]
        relative = [href for href in dist_script._hrefs(text) if "://" not in href and not href.startswith("#")]
        assert relative == [], path.name


def test_relative_links_become_links_at_the_tag():
    """Links to siblings, to the parent and to the root all have to arrive."""
    text = "[a](../session/README.md) [b](LICENSE#top) [c](https://x.invalid/y) [d](#here) `[e](f)`"
    shown = dist_script.absolute_links(text, "https://h.invalid/blob/v1", Path("packages/agent"))
    assert "[a](https://h.invalid/blob/v1/packages/session/README.md)" in shown
    assert "[b](https://h.invalid/blob/v1/packages/agent/LICENSE#top)" in shown
    assert "[c](https://x.invalid/y) [d](#here) `[e](f)`" in shown


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"drop": "py.typed"}, "no py.typed"),
        ({"drop": "licenses/"}, "does not hold the licence"),
        ({"replace": ("Classifier: Typing :: Typed\n", "")}, "no classifier Typing :: Typed"),
        ({"replace": ("Project-URL: Changelog", "Project-URL: Other")}, "no project URL Changelog"),
        ({"replace": ("Requires-Python: >=3.11", "Requires-Python: >=3.12")}, "it requires Python >=3.12"),
        (
            {"replace": ("Requires-Dist: msgspec>=0.20", "Requires-Dist: msgspec @ https://h.invalid/m.whl")},
            "by address",
        ),
    ],
    ids=["untyped", "unlicensed", "unclassified", "without-url", "other-python", "by-address"],
)
def test_an_incomplete_wheel_is_refused(dist, tmp_path, change, fault):
    """A check that cannot fail would let the next omission through."""
    shutil.copytree(dist, tmp_path / "dist")
    wheel = next((tmp_path / "dist").glob("dsh_session-*.whl"))
    rewrite(next(dist.glob("dsh_session-*.whl")), wheel, **change)
    one = next(one for one in dist_script.distributions(dist_script.ROOT) if one.name == "dsh-session")
    assert any(fault in found for found in dist_script.archive_faults(one, tmp_path / "dist"))


def test_an_sdist_without_its_tests_is_refused(dist, tmp_path):
    """Whoever packages an sdist for a system runs its tests there."""
    shutil.copytree(dist, tmp_path / "dist")
    sdist = next((tmp_path / "dist").glob("dsh_session-*.tar.gz"))
    with tarfile.open(next(dist.glob("dsh_session-*.tar.gz"))) as source, tarfile.open(sdist, "w:gz") as copy:
        for member in source.getmembers():
            if "/tests/" not in member.name:
                copy.addfile(member, source.extractfile(member))
    one = next(one for one in dist_script.distributions(dist_script.ROOT) if one.name == "dsh-session")
    assert "the sdist holds no tests" in list(dist_script.archive_faults(one, tmp_path / "dist"))


def test_a_release_publishes_every_distribution_from_pinned_actions():
    """A distribution that the workflow forgets is never published, and a moved tag runs foreign code."""
    text = (dist_script.ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    names = {one.name for one in dist_script.distributions(dist_script.ROOT)}
    publish = workflow["jobs"]["publish"]
    assert set(publish["strategy"]["matrix"]["distribution"]) == names
    assert publish["permissions"] == {"id-token": "write"}
    assert workflow["permissions"] == {}
    assert [job for job, body in workflow["jobs"].items() if "id-token" in json.dumps(body["permissions"])] == [
        "publish"
    ]
    uses = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert uses
    for action in uses:
        pin = action.partition("@")[2]
        assert len(pin) == 40
        assert set(pin) <= set("0123456789abcdef")
        assert f"{action} # v" in text

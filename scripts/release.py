"""Do everything up to the tag of a release; without `--no-dry-run`, do it in a copy and throw the copy away.

Owns the order of the steps and the versions in the files. Refuses to tag, to push and to publish: a tag is a
person's decision, and what follows from it is `.github/workflows/release.yml`. Flow: clean tree -> clone ->
versions -> changelog -> recorded surface -> commit -> archives -> smoke test -> the commit and `dist/` come back.

Both modes take the same steps in the same clone, so a dry run that passes says what the real one will do. The
repository changes in the last step or not at all.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tomlkit
from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

import smoke
from dist import GIT, ROOT, Distribution, distributions, git, project


class ReleaseRefused(Exception):
    """A step found a reason not to release."""


# ---------------------------------------------------------------- versions


def bounds(version: Version) -> str:
    """Return the range in which a member accepts its siblings: from this version up to the next breaking one."""
    ceiling = f"0.{version.minor + 1}" if version.major == 0 else f"{version.major + 1}"
    return f">={version},<{ceiling}"


def lockstep_faults(root: Path, version: Version) -> Iterator[str]:
    """Yield every place that does not say this version: projects, modules, and the bounds on siblings."""
    known = distributions(root)
    siblings = {distribution.name for distribution in known}
    for distribution in known:
        table = project(root / distribution.folder)
        if table["version"] != str(version):
            yield f"{distribution.folder / 'pyproject.toml'} says {table['version']}"
        if f'\n__version__ = "{version}"\n' not in module_file(distribution, root).read_text(encoding="utf-8"):
            yield f"{distribution.source / '__init__.py'} does not say {version}"
        extras = table.get("optional-dependencies", {})
        for line in (*table.get("dependencies", ()), *(line for lines in extras.values() for line in lines)):
            requirement = Requirement(line)
            if (
                requirement.name in siblings
                and requirement.specifier != Requirement(f"x{bounds(version)}").specifier
            ):
                yield f"{distribution.folder / 'pyproject.toml'} wants {line}, not {bounds(version)}"


def module_file(distribution: Distribution, root: Path) -> Path:
    """Return the file that holds a distribution's `__version__`."""
    return root / distribution.source / "__init__.py"


def move_versions(root: Path, version: Version) -> None:
    """Write a version into every place of the lockstep."""
    known = distributions(root)
    siblings = {distribution.name for distribution in known}
    for distribution in known:
        path = root / distribution.folder / "pyproject.toml"
        document = tomlkit.parse(path.read_text(encoding="utf-8"))
        table = document["project"]
        table["version"] = str(version)
        extras = table.get("optional-dependencies", {})
        for lines in (table.get("dependencies", []), *extras.values()):
            for position, line in enumerate(lines):
                requirement = Requirement(line)
                if requirement.name in siblings:
                    extra = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
                    lines[position] = f"{requirement.name}{extra}{bounds(version)}"
        path.write_text(tomlkit.dumps(document), encoding="utf-8", newline="\n")
        module = module_file(distribution, root)
        text = module.read_text(encoding="utf-8")
        line = f'__version__ = "{version}"'
        text, count = re.subn(r'^__version__ = "[^"]*"$', line, text, flags=re.MULTILINE)
        if count != 1:
            raise ReleaseRefused(f"{module.relative_to(root)}: one line `__version__ = …` expected, found {count}")
        module.write_text(text, encoding="utf-8", newline="\n")


def verify(root: Path, tag: str) -> None:
    """Refuse a tag that is not the version of everything it would publish."""
    try:
        version = Version(tag.removeprefix("v"))
    except InvalidVersion as error:
        raise ReleaseRefused(f"{tag} names no version") from error
    faults = list(lockstep_faults(root, version))
    if tag != f"v{version}":
        faults.append(f"the tag {tag} is not written v{version}")
    if not re.search(
        rf"^## {re.escape(str(version))} \(", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    ):
        faults.append(f"CHANGELOG.md has no section {version}")
    if faults:
        raise ReleaseRefused("\n".join(faults))


# ---------------------------------------------------------------- steps


def step(text: str) -> None:
    """Say what is done now."""
    print(f"- {text}", flush=True)


def run(*command: str, root: Path, refusal: str) -> str:
    """Run a command to its end and return what it printed; a failure refuses the release and shows it all."""
    done = subprocess.run(
        command,
        cwd=root,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"DSH_UV": smoke.uv(), "NO_COLOR": "1"},
    )
    if done.returncode:
        raise ReleaseRefused(f"{refusal}:\n{done.stdout.rstrip()}")
    return done.stdout.rstrip()


def wanted_version(root: Path, text: str) -> Version:
    """Return the version asked for, if it can follow what there is."""
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ReleaseRefused(f"{text!r} is no version; an example is VERSION=1.2.3") from error
    normal = Version(
        f"{version.major}.{version.minor}.{version.micro}{str(version.public)[len(version.base_version) :]}"
    )
    if str(normal) != text:
        raise ReleaseRefused(f"{text} is not the normal form of a public version, which would be {normal}")
    current = Version(str(project(root)["version"]))
    if git("tag", "--list", f"v{version}", root=root):
        raise ReleaseRefused(f"v{version} exists already")
    if version < current:
        raise ReleaseRefused(f"{version} is older than {current}")
    faults = list(lockstep_faults(root, current))
    if faults:
        raise ReleaseRefused("the versions have lost their lockstep:\n" + "\n".join(faults))
    return version


def prepare(clone: Path, version: Version) -> None:
    """Take every step of the release inside a clone, ending in a commit and a tested `dist/`."""
    python = sys.executable
    step(f"write {version} into every project, module and bound")
    move_versions(clone, version)
    step("judge the recorded surface against the last release")
    run(python, "scripts/api_surface.py", "--check", root=clone, refusal="the surface is not in order")
    step("gather the changelog fragments")
    if not list((clone / "changelog.d").glob("*.*.md")):
        raise ReleaseRefused("there are no fragments in changelog.d, so nothing to release")
    date = git("log", "-1", "--format=%cs", root=clone)
    towncrier = (python, "-m", "towncrier", "build", "--yes", "--version", str(version), "--date", date)
    run(*towncrier, root=clone, refusal="the changelog cannot be built")
    run(python, "scripts/api_surface.py", "--check", root=clone, refusal="the surface is not in order")
    verify(clone, f"v{version}")
    step("commit")
    run(GIT, "add", "--all", root=clone, refusal="git add")
    run(GIT, "commit", "--quiet", "-m", f"Release {version}", root=clone, refusal="git commit")
    print(git("show", "--stat", "--format=%h %s", "HEAD", root=clone))
    print(git("show", "--format=", "HEAD", "--", "CHANGELOG.md", root=clone))
    step("build sdist and wheel of every distribution")
    print(run(python, "scripts/dist.py", root=clone, refusal="the archives are not in order"))
    step("install the wheels into a fresh environment and try them")
    print(run(python, "scripts/smoke.py", "dist", root=clone, refusal="what was built does not work"))


def release(root: Path, text: str, *, dry: bool) -> None:
    """Prepare a release in a clone and, unless dry, take its commit and its archives over."""
    step("the tree is clean and the versions are in lockstep")
    dirty = git("status", "--porcelain", root=root)
    if dirty:
        raise ReleaseRefused(f"the tree is not clean:\n{dirty}")
    version = wanted_version(root, text)
    with tempfile.TemporaryDirectory(prefix="dsh-release-") as scratch:
        clone = Path(scratch) / "clone"
        run(GIT, "clone", "--quiet", str(root), str(clone), root=root, refusal="git clone")
        for key in ("user.name", "user.email"):
            value = subprocess.run([GIT, "config", key], cwd=root, check=False, stdout=subprocess.PIPE, text=True)
            if value.stdout.strip():
                run(GIT, "config", key, value.stdout.strip(), root=clone, refusal="git config")
        prepare(clone, version)
        if dry:
            print(f"a dry run: nothing here has changed. `make release VERSION={version} DRY=0` takes it over")
            return
        step("take the commit and dist/ over")
        run(GIT, "pull", "--quiet", "--ff-only", str(clone), "HEAD", root=root, refusal="the branch has moved")
        shutil.rmtree(root / "dist", ignore_errors=True)
        shutil.copytree(clone / "dist", root / "dist")
    print(f"what is left:\n  git tag -a v{version} -m v{version}\n  git push origin HEAD v{version}")


def main() -> int:
    """Release, dry by default; `--verify TAG` only compares a tag with the tree."""
    parser = argparse.ArgumentParser(description="Do everything up to the tag of a release.")
    parser.add_argument("version", nargs="?", default="", help="the version, such as 1.2.3")
    parser.add_argument("--no-dry-run", action="store_true", help="keep the result")
    parser.add_argument("--verify", metavar="TAG", help="only see that TAG is the version of the tree")
    arguments = parser.parse_args()
    try:
        if arguments.verify:
            verify(ROOT, arguments.verify)
        else:
            release(ROOT, arguments.version, dry=not arguments.no_dry_run)
    except ReleaseRefused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

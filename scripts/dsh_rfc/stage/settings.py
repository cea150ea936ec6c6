"""What staging has to know of the site, read from the builder's own configuration.

Owns reading `mkdocs.yml`: names, addresses, where documents and packages stand. Refuses to repeat any of it in a
configuration of its own, and to interpret what only the builder understands.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dsh_rfc.errors import CannotJudge

CONFIGURATION = "mkdocs.yml"


class SettingsInvalid(CannotJudge):
    """The builder's configuration lacks something that staging needs."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The site.

    Attributes:
        name: Its name.
        description: One sentence.
        url: Where it is published, with a slash at the end.
        repository: The repository in the web, without a slash at the end.
        branch: The branch that links into the repository name.
        documents: The folder of the documents, relative to the repository.
        packages: Patterns of folders that packages stand in, relative to the repository.
    """

    name: str
    description: str
    url: str
    repository: str
    branch: str
    documents: str
    packages: tuple[str, ...]

    def view(self, path: str, *, is_folder: bool = False) -> str:
        """Return where a path of the repository is shown in the web."""
        return f"{self.repository}/{'tree' if is_folder else 'blob'}/{self.branch}/{path}"

    def edit(self, path: str) -> str:
        """Return where a file of the repository is edited in the web."""
        return f"{self.repository}/edit/{self.branch}/{path}"


class _Loader(yaml.SafeLoader):
    """Reads the file without running what its tags name."""


def _pass_over(loader: yaml.SafeLoader, _suffix: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return None


_Loader.add_multi_constructor("", _pass_over)


def read_settings(repository: Path) -> Settings:
    """Return the settings of the repository's site.

    Raises:
        SettingsInvalid: There is no `mkdocs.yml`, it is no YAML, or a key is missing.
    """
    file = repository / CONFIGURATION
    try:
        table = yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a safe loader of our own
        plugins = table["plugins"]
        return Settings(
            name=table["site_name"],
            description=table["site_description"],
            url=f"{table['site_url'].rstrip('/')}/",
            repository=table["repo_url"].rstrip("/"),
            branch=table["edit_uri"].split("/")[1],
            documents=table["docs_dir"].strip("/"),
            packages=tuple(plugins["mkdocstrings"]["handlers"]["python"]["paths"]),
        )
    except OSError as error:
        msg = f"{file} cannot be read: {error.strerror}"
        raise SettingsInvalid(msg) from error
    except yaml.YAMLError as error:
        msg = f"{file} is no YAML: {error}"
        raise SettingsInvalid(msg) from error
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        msg = (
            f"{file} must have site_name, site_description, site_url, repo_url, edit_uri (edit/BRANCH/…), docs_dir "
            f"and plugins.mkdocstrings.handlers.python.paths: {error!r}"
        )
        raise SettingsInvalid(msg) from error

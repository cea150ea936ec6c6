"""The command `dsh-rfc stage`.

Owns its options and its one line of outcome. Refuses to stage (`staging` does).
"""

from pathlib import Path

import click


@click.command("stage")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("build/stage"),
    show_default=True,
    help="Folder to write; what else was staged there is removed.",
)
@click.option(
    "--diagrams",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The diagram library (mermaid.min.js). Without it diagrams are shown as their source.",
)
@click.pass_context
def stage_command(context: click.Context, *, out: Path, diagrams: Path | None) -> int:
    """Prepare the documentation for a site builder: one plain tree per language."""
    from dsh_rfc.configuration import find_repository
    from dsh_rfc.stage.staging import stage

    group = context.find_root().command
    staged = stage(
        find_repository(Path.cwd()),
        out,
        command=group if isinstance(group, click.Group) else None,
        diagram_script=diagrams,
    )
    counts = ", ".join(f"{number} pages in {tag}" for tag, number in staged.pages.items())
    click.echo(f"{out}: {counts}; {staged.written} files written", err=True)
    return 0

"""`discoparse models package`: make a trained model a package that pip installs."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from discoparse.cli.options import tell


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="What the model is called once it is installed: --model NAME.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="A new directory [discoparse-model-NAME].")
@click.option("--version", help="Version of the package [0.1.0].")
@click.option("--licence", metavar="SPDX", help="Licence of the model, as in CC-BY-4.0 [what its card says].")
@click.option(
    "--licence-file",
    "licence_files",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Text of a licence to go along, called as in Apache-2.0.txt; may be repeated.",
)
def command(
    directory: Path,
    name: str,
    output: Path | None,
    version: str | None,
    licence: str | None,
    licence_files: tuple[Path, ...],
) -> None:
    """Make a package for pip of a model.

    DIR is the output of `discoparse train`, or the directory of a model.
    """
    from discoparse.model.package import FIRST_VERSION, package_model
    from discoparse.parser.finding import find_model

    package = package_model(
        find_model(directory),
        name,
        output,
        version=version or FIRST_VERSION,
        licence=licence,
        licence_files=licence_files,
    )
    for missing in package.without_text:
        tell(f"warning: the text of {missing} is not in the package: if it has to be, add --licence-file {missing}.txt")
    if package.other_licences:
        listed = "; ".join(package.other_licences)
        tell(f"it was made from what has other licences ({listed}): check that it may have {package.licence}")
    place = shlex.quote(os.path.join(os.curdir, package.directory))
    click.echo(f"{package.directory}: discoparse-model-{name} {package.version}, licence {package.licence}")
    click.echo(f"  install:  pip install {place}")
    click.echo(f"  build:    pip wheel --no-deps {place}")
    click.echo(f"  use:      discoparse parse --model {name}")

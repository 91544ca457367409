"""``millpond version``."""

import platform

import click

from daemon.version import __version__


@click.command()
def version() -> None:
    """Print the versions of Millpond and of Python."""
    click.echo(f"millpond {__version__} (Python {platform.python_version()})")

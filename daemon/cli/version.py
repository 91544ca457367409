"""``millpond version``."""

import platform

import click

from daemon.version import __version__


@click.command()
def version() -> None:
    """Print the version of Millpond and of the Python that runs it."""
    click.echo(f"millpond {__version__} (Python {platform.python_version()})")

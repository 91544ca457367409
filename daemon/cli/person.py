"""``millpond person``: whom the bots know."""

import click


@click.group()
def person() -> None:
    """Look after the people whom bots remember."""

"""The token of a data directory, as a client of the API sends it: the one place where tests and benchmarks read it."""

from pathlib import Path


def header_of(folder: Path) -> dict[str, str]:
    """The header that ``folder`` gives its clients; none before a web process has run there."""
    try:
        name, _, value = (folder / "api.header").read_text().strip().partition(": ")
    except FileNotFoundError:
        return {}
    return {name: value}

"""The shared context of the endpoints of one web channel."""

from pathlib import Path

import msgspec

from daemon.config import WebConfig
from daemon.process import Process


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """One channel instance of type ``web``, listening."""

    process: Process
    name: str
    """The channel instance: the name of its section in the configuration."""
    config: WebConfig
    """Its ``token`` is set."""
    address: str
    """``http://host:port`` as it listens."""
    header_file: Path | None = None
    """The file with the token of the data directory; None if the configuration sets the token."""

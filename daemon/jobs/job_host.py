"""What a job is given of the process that does it; a ``daemon.process.Process`` is one."""

from pathlib import Path
from typing import Protocol

from daemon.bus import Bus
from daemon.clock import Clock
from daemon.config import BotConfig, Config


class Host(Protocol):
    """Connection, configuration and folders of a process."""

    @property
    def config(self) -> Config:
        """The whole configuration."""
        ...

    @property
    def data_dir(self) -> Path:
        """Where everything lies that is kept."""
        ...

    @property
    def bus(self) -> Bus:
        """The connection to Redis."""
        ...

    @property
    def clock(self) -> Clock:
        """For times that people read."""
        ...

    @property
    def name(self) -> str:
        """A name that no other process has."""
        ...

    def bot(self, name: str) -> BotConfig:
        """The configuration of a bot; raises ConfigError when there is none."""
        ...

    def workspace(self, name: str) -> Path:
        """The folder of a bot's files; raises ConfigError when there is no such bot."""
        ...

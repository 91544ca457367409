"""The adapter: what ``channels.base.Channel`` asks for, in terms of Slack's Web API."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from channels.base import Intake, Limits
from channels.slack.api import Api
from channels.slack.api import connect as connect_api
from daemon.config import SlackConfig
from daemon.process import Process

LIMITS = Limits(
    part_max=12_000,
    edit_every_s=1.0,
    group_edit_every_s=1.0,
    typing_lasts_s=120.0,
    fetch_max_bytes=20_000_000,
    send_max_bytes=50_000_000,
)


class SlackChannel:
    """One app in one workspace of Slack."""

    limits = LIMITS

    def __init__(self, process: Process, name: str, config: SlackConfig, api: Api) -> None:
        self.name = name
        self._process = process
        self._config = config
        self._api = api

    async def receive(self, intake: Intake) -> None:
        """As ``Channel.receive``."""
        raise NotImplementedError


@asynccontextmanager
async def connect(process: Process, name: str, config: SlackConfig) -> AsyncGenerator[SlackChannel]:
    """The adapter for the length of the block."""
    async with connect_api(config.base_url, config.bot_token) as api:
        yield SlackChannel(process, name, config, api)

"""Hearing what is said: over a long connection, or by events that Feishu sends by HTTP."""

import random

import anyio
import structlog

from channels.base import Intake
from channels.feishu.api import Api
from channels.feishu.event_inlet import Inlet
from channels.feishu.feishu_events import Me, me_of
from channels.feishu.user_directory import People
from daemon.config import FeishuConfig
from daemon.errors import ChannelError, SendRefused, brief
from daemon.process import Process

TIMEOUT_S = 10.0
"""How long Feishu may take to say who the bot is."""

REST_S = 5.0
"""Pause before Feishu is asked once more who the bot is, less up to a half of it."""

_log = structlog.get_logger()


async def hear(process: Process, name: str, config: FeishuConfig, api: Api, intake: Intake) -> None:
    """Hand in what is said to the app of the channel ``name``, until cancelled; what is cut off Feishu says again.

    Raises:
        ConfigError: it cannot listen where it is configured to.
    """
    me = await _me(api, name)
    people = People(api, channel=name)
    inlet = Inlet(intake, me, people, api, channel=name)
    async with anyio.create_task_group() as tg:
        tg.start_soon(people.run)
        if config.events.url:
            # Imported here: it needs cryptography, and few have an address of their own.
            from channels.feishu.events_endpoint import EventsEndpoint  # noqa: PLC0415

            await EventsEndpoint(name, config, inlet.take, clock=process.clock).run()
        else:
            from channels.feishu.long_connection import LongConnection  # noqa: PLC0415 - it needs aiohttp

            await LongConnection(api, inlet.take, tg, channel=name).run()


async def _me(api: Api, name: str) -> Me:
    """Who the bot is; asked until it is known, for without that nobody can tell whether it is meant."""
    while True:
        try:
            return me_of(await api.call("GET", "/bot/v3/info", timeout_s=TIMEOUT_S), api.app_id)
        except (ChannelError, ValueError) as error:
            _log.warning("hearing.waits", channel=name, reason=brief(error))
            told_s = error.retry_after_s if isinstance(error, SendRefused) else None
            await anyio.sleep(told_s or REST_S * random.uniform(0.5, 1.0))

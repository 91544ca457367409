"""Hearing what is said in a workspace, over a socket or by events that Slack brings."""

import random

import anyio
import structlog

from channels.base import Intake
from channels.slack.api import Api
from channels.slack.api import connect as connect_api
from channels.slack.envelopes import Envelopes
from channels.slack.event_inlet import Inlet
from channels.slack.events_endpoint import Brought
from channels.slack.slack_events import Me, me_of
from channels.slack.socket_mode import Socket
from channels.slack.user_directory import People
from channels.slack.workspaces import App, app_of, hears_by_http
from daemon.config import SlackConfig
from daemon.errors import ChannelError, SendRefused, brief
from daemon.process import Process

TIMEOUT_S = 10.0
"""How long Slack may take to say who the bot is."""

REST_S = 5.0
"""Pause before Slack is asked once more who the bot is, less up to a half of it."""

_log = structlog.get_logger()


async def hear(process: Process, name: str, config: SlackConfig, api: Api, intake: Intake) -> None:
    """Hand in what is said in the workspace of the channel ``name``, until cancelled; what is cut off Slack says again.

    ``api`` has the bot's token.

    Raises:
        ConfigError: it cannot listen where it is configured to.
    """
    me = await _me(api, name)
    people = People(api, channel=name)
    inlet = Inlet(
        intake,
        me,
        people,
        channel=name,
        everything=config.access.groups == "all",
        now=lambda: process.clock.now().timestamp(),
    )
    app = app_of(process, name, config)
    with app.joined(name, me.team, inlet):
        async with anyio.create_task_group() as tg:
            tg.start_soon(people.run)
            await _listen(process, name, config, app)


async def _me(api: Api, name: str) -> Me:
    """Who the bot is; asked until it is known, for without that nobody can tell whose an event is."""
    while True:
        try:
            return me_of(await api.call("auth.test", timeout_s=TIMEOUT_S))
        except (ChannelError, ValueError) as error:
            _log.warning("hearing.waits", channel=name, reason=brief(error))
            told_s = error.retry_after_s if isinstance(error, SendRefused) else None
            await anyio.sleep(told_s or REST_S * random.uniform(0.5, 1.0))


async def _listen(process: Process, name: str, config: SlackConfig, app: App) -> None:
    """Listen for all sections of the app, as long as no other one does."""
    if not hears_by_http(config):
        async with app.turn("socket"):
            await _by_socket(name, config, app)
    elif config.events.url:
        async with app.turn(f"{config.events.host} {config.events.port}"):
            await Brought(name, config, app, clock=process.clock).run()
    else:
        await anyio.sleep_forever()  # what is brought to another section's address is handed on to this one


async def _by_socket(name: str, config: SlackConfig, app: App) -> None:
    async with connect_api(config.base_url, config.app_token) as api, anyio.create_task_group() as tg:
        await Socket(api, Envelopes(app, tg, channel=name), channel=name).run()

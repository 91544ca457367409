"""The role ``channels``: every configured channel that sends its replies to a platform."""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import anyio
import structlog

from channels.base import Channel
from channels.intake import Intake
from channels.outbox import Outbox
from daemon.config import (
    DiscordConfig,
    FeishuConfig,
    PushConfig,
    SlackConfig,
    TelegramConfig,
    TestingConfig,
    WebhookChannelConfig,
    connect_of,
)
from daemon.errors import ConfigError
from daemon.heartbeat import beat
from daemon.process import Process
from daemon.services import load

# Having an adapter receive for as long as the process runs.

REST_S = 5.0
"""Pause before an adapter that failed receives again: it deals itself with a platform that is away."""


_log = structlog.get_logger()


async def receive(process: Process, channel: Channel, intake: Intake) -> None:
    """Let ``channel`` hand in what its platform says, until the process stops."""
    async with anyio.create_task_group() as tg:
        tg.start_soon(intake.run)
        tg.start_soon(_receive, channel, intake)
        await process.stopping.wait()
        tg.cancel_scope.cancel()


async def _receive(channel: Channel, intake: Intake) -> None:
    while True:
        try:
            return await channel.receive(intake)
        except Exception as error:  # noqa: BLE001 - the service's top: a bug in one adapter must not end the others
            _log.exception("receive.failed", channel=channel.name, reason=type(error).__name__)
        await anyio.sleep(REST_S)


ADAPTERS: dict[type[PushConfig], str] = {
    TestingConfig: "channels.testing:connect",
    TelegramConfig: "channels.telegram:connect",
    SlackConfig: "channels.slack:connect",
    DiscordConfig: "channels.discord:connect",
    FeishuConfig: "channels.feishu:connect",
    WebhookChannelConfig: "channels.webhook:connect",
}
"""Where the adapter of each of our types is found: by import string, since most processes need few of them."""


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Receive messages on the push channels, and send the replies; returns when the process stops.

    By then nothing more is taken in, and every send is over.
    """
    configured = {
        name: config
        for name, config in process.config.channels.items()
        if isinstance(config, PushConfig) and config.enabled
    }
    for name, config in configured.items():
        connect(process, name, config)  # what cannot be loaded is said before anything begins
    outboxes: list[Outbox] = []
    async with anyio.create_task_group() as background:
        background.start_soon(beat, process, "channels", lambda: sum(each.in_flight for each in outboxes))
        async with anyio.create_task_group() as tg:
            for name, config in configured.items():
                tg.start_soon(_serve_one, process, name, config, outboxes)
            _log.info("channels.started", count=len(configured))
            task_status.started()
        background.cancel_scope.cancel()


async def _serve_one(process: Process, name: str, config: PushConfig, outboxes: list[Outbox]) -> None:
    """Serve one channel until the process stops: an adapter that cannot be opened, or not soon, holds up no other."""
    while not process.stopping.is_set() and not await _served(process, name, config, outboxes):
        with anyio.move_on_after(REST_S):
            await process.stopping.wait()


async def _served(process: Process, name: str, config: PushConfig, outboxes: list[Outbox]) -> bool:
    """Whether the channel could be opened; it is served until the process stops then."""
    is_open = False

    async def give_up_at_stop() -> None:
        await process.stopping.wait()
        if not is_open:
            tg.cancel_scope.cancel()

    async with anyio.create_task_group() as tg, AsyncExitStack() as stack:
        tg.start_soon(give_up_at_stop)
        try:
            channel = await stack.enter_async_context(connect(process, name, config))
        except Exception as error:  # noqa: BLE001 - the service's top: another channel's adapter must not end the rest
            _log.exception("channel.failed", channel=name, reason=type(error).__name__)
            tg.cancel_scope.cancel()
            return False
        is_open = True
        outbox = Outbox(process, channel, config)
        outboxes.append(outbox)
        async with anyio.create_task_group() as work:
            work.start_soon(outbox.run)
            work.start_soon(receive, process, channel, Intake(process, channel, config, shown=outbox.showing))
        tg.cancel_scope.cancel()
    return True


def connect(process: Process, name: str, config: PushConfig) -> AbstractAsyncContextManager[Channel]:
    """The adapter of a channel instance, for the length of a block.

    Raises:
        ConfigError: its adapter, which another package brings, cannot be loaded.
    """
    opened: AbstractAsyncContextManager[Channel] = adapter_of(name, config)(process, name, config)
    return opened


def adapter_of(name: str, config: PushConfig) -> Any:
    """The ``connect`` of a channel's adapter. Errors as for ``connect``."""
    target = ADAPTERS.get(type(config)) or connect_of(type(config))
    try:
        return load(target)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"channels.{name}: the channel's adapter {target} cannot be loaded: {error}. Install or update the "
            "package that provides the adapter."
        ) from error

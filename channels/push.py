"""The role ``channels``: every configured channel that has its replies sent to a platform."""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import anyio
import structlog

from channels.base import Channel
from channels.intake import Intake, receive
from channels.outbox import Outbox
from daemon.config import PushConfig, TelegramConfig, TestingConfig, connect_of
from daemon.errors import ConfigError
from daemon.heartbeat import beat
from daemon.process import Process
from daemon.services import load

ADAPTERS: dict[type[PushConfig], str] = {
    TestingConfig: "channels.testing:connect",
    TelegramConfig: "channels.telegram:connect",
}
"""Where the adapter of each of our types is found: by import string, since most processes need few of them."""

_log = structlog.get_logger()


async def serve(process: Process, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    """Take in what people say on the push channels, and send the replies; returns when the process stops.

    By then nothing more is taken in, and every send is over.
    """
    configured = {
        name: config
        for name, config in process.config.channels.items()
        if isinstance(config, PushConfig) and config.enabled
    }
    outboxes: list[Outbox] = []
    async with AsyncExitStack() as stack, anyio.create_task_group() as background:
        background.start_soon(beat, process, "channels", lambda: sum(each.in_flight for each in outboxes))
        async with anyio.create_task_group() as tg:
            for name, config in configured.items():
                channel = await stack.enter_async_context(connect(process, name, config))
                outboxes.append(Outbox(process, channel, config))
                tg.start_soon(outboxes[-1].run)
                tg.start_soon(receive, process, channel, Intake(process, channel, config, shown=outboxes[-1].showing))
            _log.info("channels.started", count=len(configured))
            task_status.started()
            await process.stopping.wait()
        background.cancel_scope.cancel()


def connect(process: Process, name: str, config: PushConfig) -> AbstractAsyncContextManager[Channel]:
    """The adapter of a channel instance, for the length of a block.

    Raises:
        ConfigError: its adapter, which another package brings, cannot be loaded.
    """
    target = ADAPTERS.get(type(config)) or connect_of(type(config))
    try:
        adapter: Any = load(target)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"channels.{name}: its adapter {target} cannot be loaded: {error}") from error
    opened: AbstractAsyncContextManager[Channel] = adapter(process, name, config)
    return opened

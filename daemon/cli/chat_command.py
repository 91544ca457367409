"""``millpond chat``: the terminal channel alone, with its own worker if no other one runs."""

from functools import partial
from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import config_path
from daemon.cli.run_command import log_to
from daemon.services import TERMINAL, load, service

if TYPE_CHECKING:
    from pathlib import Path

    import anyio

    from daemon.config import Config
    from daemon.process import Process

LOOK_S = 2.0
"""Seconds between two looks for a worker, which may have been killed a moment ago, or end before this chat does."""


@click.command()
@click.option(
    "--session",
    default="",
    metavar="NAME",
    help="Session to talk in. Name of the session. Default: your user name.",
)
@click.pass_context
def chat(ctx: click.Context, session: str) -> None:
    """Talk to the bot in this terminal. If standard input is not a terminal, each line of standard input is one
    message.

    If no agent worker is running, this process answers the messages itself.
    """
    import anyio

    from daemon.cli.preflight import usable
    from daemon.config import data_path

    config = usable(config_path(ctx), ["agent"]).config
    data_dir = data_path(config)
    log_to(config, data_dir / "logs")
    anyio.run(_chat, config, data_dir, session)


async def _chat(config: "Config", data_dir: "Path", session: str) -> None:
    from daemon.run import open_process, run_services

    async with open_process(config, data_dir) as process:
        await run_services(process, [partial(load(TERMINAL), session=session), answer_when_nobody_does])


async def answer_when_nobody_does(process: "Process", *, task_status: "anyio.abc.TaskStatus[None]") -> None:
    """A service: the role ``agent``, from the moment that no agent worker is known to live."""
    import anyio

    task_status.started()
    while await _worker_lives(process):
        with anyio.move_on_after(LOOK_S):
            await process.stopping.wait()
        if process.stopping.is_set():
            return
    click.echo(
        "millpond: no agent worker is running, so this process answers the messages itself until it exits.", err=True
    )
    await service("agent")(process, task_status=anyio.TASK_STATUS_IGNORED)


async def _worker_lives(process: "Process") -> bool:
    from daemon.errors import BusError
    from daemon.heartbeat import agent_lives

    try:
        return await agent_lives(process.bus, process.clock)
    except BusError:
        return True  # unknown; with Redis away a worker more would be of no use

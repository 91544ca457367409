"""``millpond chat``: the terminal channel alone, with its own worker if no other one runs."""

import math
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import config_path, with_process
from daemon.cli.output.table_output import print_json, tell
from daemon.cli.run_command import log_to
from daemon.errors import InboundError
from daemon.services import TERMINAL, load, service

if TYPE_CHECKING:
    from pathlib import Path

    import anyio

    from daemon.config import Config
    from daemon.process import Process


# ``millpond send``: one message to any session.

SENDING = "channels.terminal.send_message:send"
"""Found by import string, as services are: this room may not import the channels."""
FOR_OUTPUT = "channels.terminal.terminal_style:for_output"


def _seconds(ctx: click.Context, option: click.Parameter, value: float | None) -> float | None:
    # Not a number is in every range: it compares with none of its ends.
    if value is not None and math.isnan(value):
        raise click.BadParameter("the number of seconds must be a number, not nan. Enter a number.")
    return value


@click.command()
@click.argument("session")
@click.argument("text")
@click.option(
    "--id", "message_id", default="", help="The message's ID. Millpond ignores a second message with the same ID."
)
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=0, min_open=True),
    callback=_seconds,
    metavar="S",
    help="Wait up to S seconds for the answer.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help=("Print the message ID, session and status as JSON, and the reply if --wait is used."),
)
@click.pass_context
def send(ctx: click.Context, /, session: str, text: str, **options: Any) -> None:
    """Send TEXT to SESSION. If TEXT is -, it is read from standard input.

    Without a channel prefix, SESSION is a terminal session. The command prints the message's ID, and the answer if
    --wait is given. The exit code is 75 if no answer arrived within S seconds.
    """
    text = _text(text)

    async def work(process: "Process") -> None:
        sending = await load(SENDING)(process, session=session, text=text, message_id=options["message_id"])
        await (_as_json if options["as_json"] else _plainly)(sending, options["wait_s"])

    with_process(ctx, work)


def _text(given: str) -> str:
    raw = sys.stdin.buffer.read().removesuffix(b"\n") if given == "-" else given.encode(errors="surrogateescape")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InboundError(f"the text is not encoded in UTF-8 (byte {error.start}). Convert it to UTF-8.") from error


async def _plainly(sending: Any, wait_s: float | None) -> None:
    click.echo(sending.sent.id)
    if sending.sent.status == "duplicate":
        tell("millpond: duplicate: a message with this ID has already been accepted. Nothing was sent.", err=True)
    if wait_s is not None:
        for_output: Any = load(FOR_OUTPUT)
        reply = (await sending.reply(limit_s=wait_s)).reply
        click.echo(for_output(reply))


async def _as_json(sending: Any, wait_s: float | None) -> None:
    sent = sending.sent
    content = {"id": sent.id, "session": sent.session, "status": sent.status}
    if wait_s is None:
        print_json(content)
        return
    content["reply"] = None
    try:
        content["reply"] = (await sending.reply(limit_s=wait_s)).reply
    finally:
        print_json(content)


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
    tell("millpond: no agent worker is running, so this process answers the messages itself until it exits.", err=True)
    await service("agent")(process, task_status=anyio.TASK_STATUS_IGNORED)


async def _worker_lives(process: "Process") -> bool:
    from daemon.errors import BusError
    from daemon.heartbeat import agent_lives

    try:
        return await agent_lives(process.bus, process.clock)
    except BusError:
        return True  # unknown; with Redis away a worker more would be of no use

"""``millpond session generate``: an artificial conversation for experiments."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.command_setup import with_process
from daemon.cli.output.table_output import print_json
from daemon.cli.session_command import key_of
from daemon.errors import InboundError
from daemon.services import load

if TYPE_CHECKING:
    from daemon.events import Inbound
    from daemon.process import Process

SENDER = "channels.terminal.send_message:sender_of"
INBOUND = "channels.inbound:make_inbound"
"""Found by import string, as services are: this room may not import the channels."""

MESSAGES_MAX = 10_000
"""One script writes them all."""

OVERSIZED_SHARE = 0.6
"""Of the window of the model that sums up: no such message goes into a request beside others."""


@click.command()
@click.argument("name", metavar="SESSION")
@click.option(
    "--messages", type=click.IntRange(2, MESSAGES_MAX), default=100, show_default=True, help="Number of messages."
)
@click.option(
    "--oversized",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Number of very large messages.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same conversation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: session, scope, messages, tokens.")
@click.pass_context
def generate(ctx: click.Context, name: str, *, messages: int, oversized: int, seed: int, as_json: bool) -> None:
    """Create SESSION with an artificial conversation. Without a channel prefix, SESSION is a terminal session.

    The conversation is in English and Chinese, contains tool calls, and is stored like a real conversation. The
    command fails if the session already exists.
    """
    key = key_of(ctx, name)
    made = with_process(ctx, lambda process: _generate(process, key, messages, oversized, seed))
    if as_json:
        print_json(made)
    else:
        click.echo("{session}: {messages:,} messages, {tokens:,} tokens".format(**made))


async def _generate(process: "Process", key: str, messages: int, oversized: int, seed: int) -> dict[str, Any]:
    from anyio import to_thread

    from daemon import tokens
    from daemon.config import summary_model_of
    from daemon.scope import scope_of
    from daemon.session.artificial_session import Plot, fill, synthetic

    first = _first(process, key)
    bot = process.bot(first.bot)
    huge = int(OVERSIZED_SHARE * summary_model_of(bot).context_window_tokens)
    plot = Plot(messages=messages, oversized=oversized, oversized_tokens=huge, seed=seed)
    tokenizer = await tokens.load(bot.model.name)
    entries = await to_thread.run_sync(partial(synthetic, plot, tokenizer, sender=first.sender_id))
    scope = scope_of(first, bot)
    await fill(process.bus, key, entries, scope=scope)
    total = sum(entry.tokens for entry in entries)
    return {"session": key, "scope": scope, "messages": len(entries), "tokens": total}


def _first(process: "Process", key: str) -> "Inbound":
    """The session's first message, as a sender on its channel would send it."""
    from daemon.sessionkey import SessionKey

    session, channels = SessionKey.parse(key), process.config.channels
    if session.channel not in channels:
        known = ", ".join(channels)
        raise InboundError(
            f"session {key}: channel {session.channel} is not in the configuration. Its channels are: {known}."
        )
    # Services alone promise a coroutine; these are plain functions.
    sender_of: Any = load(SENDER)
    make_inbound: Any = load(INBOUND)
    sender = sender_of(process.config, session)
    found: Inbound = make_inbound(
        process, channel=session.channel, chat=session.chat, thread=session.thread, text="", sender_id=sender
    )
    return found

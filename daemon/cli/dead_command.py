"""``millpond queue dead``: shows, replays and deletes dead letters."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import click

from daemon.cli.command_setup import loaded, with_bus
from daemon.cli.table_output import print_json, say, table, tell
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.bus import Choice, DeadLetter, DeadLetters, LetterWork

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
LIMIT = click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="Show at most this many of the newest dead letters.",
)
ONE = click.argument("name", metavar="[ID]", required=False)
REASON = click.option(
    "--reason",
    metavar="R",
    help="Select all dead letters that have this reason. Copy the reason from the output of "
    "`millpond queue dead list`.",
)
ALL = click.option("--all", "everything", is_flag=True, help="Select all dead letters.")
TEXT_CHARS = 60
"""Characters of a text that the list shows."""

_T = TypeVar("_T")


@click.group()
def dead() -> None:
    """Show, replay or delete dead letters."""


@dead.command("list")
@LIMIT
@JSON
@click.pass_context
def list_(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List messages that could not be answered or delivered, newest last."""
    from daemon.bus import excerpt_of

    found = _with_letters(ctx, lambda letters: letters.newest(limit=limit))
    if as_json:
        print_json({"dead": [_row(letter) for letter in found]})
        return
    heads = ("id", "time", "session", "message", "reason", "attempts")
    rows = [([_row(letter)[head] for head in heads], excerpt_of(letter, most=TEXT_CHARS)) for letter in found]
    table((*heads, "text"), [[*cells, text] for cells, text in rows])


@dead.command()
@click.argument("name", metavar="ID")
@JSON
@click.pass_context
def show(ctx: click.Context, name: str, *, as_json: bool) -> None:
    """Show dead letter ID and its payload."""
    shown = _with_letters(ctx, lambda letters: _shown(letters, name))
    if as_json:
        print_json(shown)
        return
    for key, value in shown.items():
        say(f"{key}: {value}")


@dead.command()
@ONE
@REASON
@ALL
@click.pass_context
def replay(ctx: click.Context, name: str | None, reason: str | None, everything: bool) -> None:
    """Put dead letters back into the queue, after the pending messages of their sessions. Replies are sent again.

    Replayed dead letters are removed from the list. Error messages that were already sent to the conversation are not
    removed.
    """
    from daemon.bus import replayed

    choice = _choice(name, reason, everything=everything)
    _report(_with_letters(ctx, lambda letters: _each(letters, choice, replayed)))


@dead.command()
@ONE
@REASON
@ALL
@click.pass_context
def drop(ctx: click.Context, name: str | None, reason: str | None, everything: bool) -> None:
    """Delete dead letters permanently."""
    from daemon.bus import dropped

    choice = _choice(name, reason, everything=everything)
    _report(_with_letters(ctx, lambda letters: _each(letters, choice, dropped)))


def _choice(name: str | None, reason: str | None, *, everything: bool) -> "Choice":
    from daemon.bus import Choice

    if (name is not None) + (reason is not None) + everything != 1:
        raise click.UsageError("give exactly one of ID, --reason and --all")
    return Choice(names=() if name is None else (name,), reason=reason, everything=everything)


def _with_letters(ctx: click.Context, work: "Callable[[DeadLetters], Awaitable[_T]]") -> _T:
    from daemon.bus import DeadLetters

    queue = loaded(ctx).config.queue
    return with_bus(ctx, lambda bus: work(DeadLetters(bus, queue)))


async def _shown(letters: "DeadLetters", name: str) -> dict[str, object]:
    from daemon.bus import one_letter

    letter = await one_letter(letters, name)
    row = _row(letter)
    del row["text"]
    return {**row, "payload": letter.payload.decode(errors="replace")}


async def _each(letters: "DeadLetters", choice: "Choice", work: "LetterWork") -> Counter[str]:
    """Results for the chosen letters, counted. A single named letter that cannot be worked off raises an error."""
    from daemon.bus import one_letter, work_off

    for name in choice.names:
        return Counter([await work(letters, await one_letter(letters, name))])
    worked = await work_off(letters, choice, work)
    for error in worked.refused:
        tell(f"millpond: {error}", err=True)
    return worked.outcomes


def _report(outcomes: Counter[str]) -> None:
    tell(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "no dead letters match")
    if refused := outcomes["cannot be replayed"]:
        raise InboundError(f"{refused} dead letters could not be replayed and stay in the list. The reasons are above.")


def _row(letter: "DeadLetter") -> dict[str, object]:
    from daemon.bus import time_of

    found = letter.message or letter.reply
    return {
        "id": letter.name,
        "time": time_of(letter),
        "session": letter.session,
        "kind": letter.kind,
        "message": letter.id,
        "reason": letter.reason,
        "attempts": letter.attempts,
        "correlation": found.correlation if found else "",
        "text": found.text if found else "",
    }

"""``millpond queue dead``: what could not be answered, and what is to become of it."""

import datetime as dt
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

from daemon.cli.connected import loaded, with_bus
from daemon.cli.table import print_json, say, table
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.bus import DeadLetter, DeadLetters

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
LIMIT = click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many, the newest."
)
ONE = click.argument("name", metavar="[ID]", required=False)
REASON = click.option("--reason", metavar="R", help="All with this reason, as the list shows it.")
ALL = click.option("--all", "everything", is_flag=True, help="All there are.")
TEXT_CHARS = 60
"""What the list shows of a text."""

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which letters a person means."""

    name: str | None
    reason: str | None
    everything: bool


@click.group()
def dead() -> None:
    """Look at dead letters, replay or drop them."""


@dead.command("list")
@LIMIT
@JSON
@click.pass_context
def list_(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List what could not be answered or delivered, the newest last."""
    rows = _with_letters(ctx, lambda letters: _rows(letters, limit))
    if as_json:
        print_json({"dead": rows})
        return
    heads = ("id", "time", "session", "message", "reason", "attempts", "text")
    table(heads, [[row[head] for head in heads[:-1]] + [_short(str(row["text"]))] for row in rows])


@dead.command()
@click.argument("name", metavar="ID")
@JSON
@click.pass_context
def show(ctx: click.Context, name: str, *, as_json: bool) -> None:
    """Show the dead letter ID with its payload."""
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
    """Have messages wait for an answer again, behind what their sessions hold; replies are sent again.

    The letter leaves the list. What its conversation shows of the failure stays there.
    """
    choice = _checked(Choice(name=name, reason=reason, everything=everything))
    _report(_with_letters(ctx, lambda letters: _each(letters, choice, _replayed)))


@dead.command()
@ONE
@REASON
@ALL
@click.pass_context
def drop(ctx: click.Context, name: str | None, reason: str | None, everything: bool) -> None:
    """Delete dead letters for good."""
    choice = _checked(Choice(name=name, reason=reason, everything=everything))
    _report(_with_letters(ctx, lambda letters: _each(letters, choice, _dropped)))


def _checked(choice: Choice) -> Choice:
    if (choice.name is not None) + (choice.reason is not None) + choice.everything != 1:
        raise click.UsageError("name one ID, or --reason R, or --all")
    return choice


def _with_letters(ctx: click.Context, work: "Callable[[DeadLetters], Awaitable[_T]]") -> _T:
    from daemon.bus import DeadLetters

    queue = loaded(ctx).config.queue
    return with_bus(ctx, lambda bus: work(DeadLetters(bus, queue)))


async def _rows(letters: "DeadLetters", limit: int) -> list[dict[str, object]]:
    return [_row(letter) for letter in await letters.newest(limit=limit)]


async def _shown(letters: "DeadLetters", name: str) -> dict[str, object]:
    letter = await _one(letters, name)
    row = _row(letter)
    del row["text"]
    return {**row, "payload": letter.payload.decode(errors="replace")}


async def _one(letters: "DeadLetters", name: str) -> "DeadLetter":
    found = await letters.named(name)
    if not found:
        raise InboundError(f"dead letter {name}: there is none; it was replayed or dropped, or never was")
    if len(found) > 1:
        names = " or ".join(letter.name for letter in found)
        raise InboundError(f"dead letter {name}: there are several; say {names}")
    return found[0]


async def _each(
    letters: "DeadLetters", choice: Choice, work: "Callable[[DeadLetters, DeadLetter], Awaitable[str]]"
) -> Counter[str]:
    """What became of the chosen letters, counted; of a letter that was named, an error when nothing could be done."""
    if choice.name is not None:
        return Counter([await work(letters, await _one(letters, choice.name))])
    outcomes: Counter[str] = Counter()
    async with aclosing(letters.all(reason=choice.reason)) as chosen:
        async for letter in chosen:
            try:
                outcomes[await work(letters, letter)] += 1
            except InboundError as error:
                click.echo(f"millpond: {error}", err=True)
                outcomes["cannot be replayed"] += 1
    return outcomes


async def _replayed(letters: "DeadLetters", letter: "DeadLetter") -> str:
    outcome = await letters.replay(letter)
    if outcome == "full":
        raise InboundError(f"dead letter {letter.name}: too many messages wait already; replay it later")
    if outcome == "unknown":
        raise InboundError(f"dead letter {letter.name}: session {letter.session} is no more; write to it anew")
    return "replayed" if outcome == "replayed" else "gone before"


async def _dropped(letters: "DeadLetters", letter: "DeadLetter") -> str:
    return "dropped" if await letters.drop(letter) else "gone before"


def _report(outcomes: Counter[str]) -> None:
    click.echo(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()) or "there are none")
    if refused := outcomes["cannot be replayed"]:
        raise InboundError(f"{refused} of the dead letters stay where they are (see above)")


def _row(letter: "DeadLetter") -> dict[str, object]:
    at = dt.datetime.fromtimestamp(int(letter.stream_id.partition("-")[0]) / 1000, dt.UTC)
    found = letter.message or letter.reply
    return {
        "id": letter.name,
        "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "session": letter.session,
        "kind": letter.kind,
        "message": letter.id,
        "reason": letter.reason,
        "attempts": letter.attempts,
        "correlation": found.correlation if found else "",
        "text": found.text if found else "",
    }


def _short(text: str) -> str:
    line = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return line if len(line) <= TEXT_CHARS else f"{line[: TEXT_CHARS - 1]}…"

"""``millpond queue``: pending messages by queue."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import click

from daemon.cli.command_setup import loaded, with_bus, with_process
from daemon.cli.output.table_output import print_json, say, table, tell
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.bus import DeadLetter, DeadLetters, LetterSelection, LetterWork
    from daemon.jobs import JobRecord
    from daemon.overview import Lengths
    from daemon.process import Process


# ``millpond queue dead``: shows, replays and deletes dead letters.

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
DEAD_LIMIT = click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="Maximum number of recent dead letters to show.",
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
@DEAD_LIMIT
@JSON
@click.pass_context
def list_dead(ctx: click.Context, *, limit: int, as_json: bool) -> None:
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
    """Show the dead letter with this ID, and its payload."""
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


def _choice(name: str | None, reason: str | None, *, everything: bool) -> "LetterSelection":
    from daemon.bus import LetterSelection

    if (name is not None) + (reason is not None) + everything != 1:
        raise click.UsageError("use exactly one of ID, --reason and --all")
    return LetterSelection(names=() if name is None else (name,), reason=reason, everything=everything)


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


async def _each(letters: "DeadLetters", choice: "LetterSelection", work: "LetterWork") -> Counter[str]:
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


# ``millpond queue jobs``: background jobs, which continue in another process if theirs dies.

LIMIT = 100


@click.command("jobs")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000),
    default=LIMIT,
    show_default=True,
    help="Maximum number of recently finished jobs to show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the result of each job.")
@click.pass_context
def jobs(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List linking and forgetting jobs: unfinished jobs first, then jobs from the last 30 days."""

    async def read(process: "Process") -> "list[JobRecord]":
        from daemon.jobs import Jobs

        lease_s = process.config.queue.lease_s
        return await Jobs(process.bus, lease_s=lease_s, worker=process.name, clock=process.clock).all(limit=limit)

    found = with_process(ctx, read)
    if as_json:
        print_json({"jobs": found})
        return
    heads = ("job", "kind", "status", "created", "ended", "attempts", "reason for the delay or the failure")
    table(heads, [(*_job_row(record), record.reason or record.report.get("error", "")) for record in found])


def _job_row(record: "JobRecord") -> tuple[object, ...]:
    return record.id, record.kind, record.shown_status, record.created, record.ended, record.attempts


UNKNOWN_SHOWN = 100
"""Unknown outcomes that are listed unless told otherwise."""


@click.group("queue")
def queue() -> None:
    """Show the queues."""


queue.add_command(dead)
queue.add_command(jobs)


@queue.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, *, as_json: bool) -> None:
    """Show the number of pending messages, per partition and in total, and why sessions are parked."""
    from daemon.overview import BACKING_OFF, Lengths, push_channels, read_queues

    channels = push_channels(loaded(ctx).config)
    queues = with_bus(ctx, lambda bus: read_queues(bus, channels))
    if as_json:
        print_json(queues)
        return
    heads = ("partition", *Lengths.__struct_fields__)
    rows = [(number, *_cells(lengths)) for number, lengths in enumerate(queues.partitions)]
    table(heads, [*rows, ("total", *_cells(queues.total))])
    for channel, count in queues.total.out.items():
        tell(f"not yet delivered to {channel}: {count}")
    tell(f"\nin flight: {queues.in_flight} sessions, processed by {queues.workers} agent workers")
    tell(f"parked: {queues.parked} sessions")
    for reason, count in queues.reasons.items():
        say(f"  {count}: {reason or BACKING_OFF}")


@queue.command("unknown")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=UNKNOWN_SHOWN,
    show_default=True,
    help="Maximum number of recent reply parts to show.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def unknown(ctx: click.Context, *, limit: int, as_json: bool) -> None:
    """List parts of replies with unknown delivery status, newest last.

    "resent": the part was sent again and may have arrived twice. On a platform that Millpond can search, a part is
    sent again only if the search did not find it.
    "given up": sending was interrupted again, and the part was not sent again.
    "preview": the chat may still show an unfinished version above the final reply.
    """
    from daemon.overview import UnknownDelivery, read_unknown

    found = with_bus(ctx, lambda bus: read_unknown(bus, limit=limit))
    if as_json:
        print_json(found)
        return
    heads = UnknownDelivery.__struct_fields__
    table(heads, [[getattr(outcome, head) for head in heads] for outcome in found])


def _cells(lengths: "Lengths") -> tuple[object, ...]:
    *counts, _ = (getattr(lengths, name) for name in lengths.__struct_fields__)
    return (*counts, sum(lengths.out.values()))

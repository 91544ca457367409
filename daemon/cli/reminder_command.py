"""``millpond reminder``: the reminders of all chats."""

from typing import TYPE_CHECKING, Any, Literal

import click

from daemon.cli.command_setup import language, with_bus, with_process
from daemon.cli.output.table_output import print_json, say, table, tell
from daemon.cli.session_command import key_of
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.process import Process
    from daemon.reminders import ReminderPlace, Reminders

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
SESSION = click.argument("name", metavar="SESSION")
ID = click.argument("reminder_id", metavar="ID")

SHOWN_CHARS = 60
"""Of a text in the list."""


@click.group("reminder")
def reminder() -> None:
    """List, add and remove reminders."""


@reminder.command("list")
@click.argument("name", metavar="SESSION", required=False)
@JSON
@click.pass_context
def list_(ctx: click.Context, *, name: str | None, as_json: bool) -> None:
    """List the reminders in SESSION, or in all sessions, soonest first."""
    session = key_of(ctx, name) if name else ""
    rows = with_bus(ctx, lambda bus: _rows(bus, session))
    if as_json:
        print_json({"reminders": rows})
    elif not rows:
        tell("no reminders")
    else:
        heads = ("session", "id", "due (UTC)", "state", "kind", "rule", "text")
        table(heads, [[*list(row.values())[:-1], row["text"][:SHOWN_CHARS]] for row in rows])


@reminder.command()
@SESSION
@click.argument("when")
@click.argument("text")
@click.option("--prompt", is_flag=True, help="Have the bot respond to TEXT at this time. Default: send TEXT unchanged.")
@click.option("--repeat", default="", help="Recurrence rule, such as weekdays, FREQ=WEEKLY;BYDAY=MO or cron 0 8 * * 1.")
@click.option("--time-zone", "zone", help="Time zone of WHEN, for example Europe/Berlin. Default: the bot's time zone.")
@JSON
@click.pass_context
def add(  # noqa: PLR0913 - its arguments and options
    ctx: click.Context, name: str, when: str, text: str, *, prompt: bool, repeat: str, zone: str | None, as_json: bool
) -> None:
    """Add a reminder to SESSION. WHEN is a time such as 20m, 18:30, "tomorrow 09:00" or "2026-12-24 18:00"."""
    key = key_of(ctx, name)
    asked = {"when": when, "text": text, "kind": "prompt" if prompt else "text", "rule": repeat}
    found = with_process(ctx, lambda process: _added(process, key, zone=zone, **asked), makes=False)
    if as_json:
        print_json(found["reminder"])
    else:
        say(found["said"])


@reminder.command()
@SESSION
@ID
@click.pass_context
def remove(ctx: click.Context, name: str, reminder_id: str) -> None:
    """Remove the reminder with this ID from SESSION."""
    _act(ctx, key_of(ctx, name), reminder_id, "delete")
    tell(f"reminder {reminder_id} is removed")


@reminder.command()
@SESSION
@ID
@click.pass_context
def pause(ctx: click.Context, name: str, reminder_id: str) -> None:
    """Pause the reminder with this ID in SESSION, so that it does not fire."""
    _act(ctx, key_of(ctx, name), reminder_id, "pause")
    tell(f"reminder {reminder_id} is paused")


@reminder.command()
@SESSION
@ID
@click.pass_context
def resume(ctx: click.Context, name: str, reminder_id: str) -> None:
    """Resume a paused reminder in SESSION. If the time of a one-time reminder has passed, the command removes the
    reminder."""
    due = _act(ctx, key_of(ctx, name), reminder_id, "resume")
    tell(f"reminder {reminder_id} fires on {due}" if due else f"the time of reminder {reminder_id} has passed")


def _act(ctx: click.Context, session: str, reminder_id: str, action: Literal["pause", "resume", "delete"]) -> str:
    async def work(bus: "Bus") -> str:
        from daemon.reminders import act

        reminders = _reminders(bus)
        stored = await reminders.get(session, reminder_id)
        if stored is None:
            text = (
                f"reminder {reminder_id} was not found in session {session}. To list the IDs, run `millpond "
                "reminder list`."
            )
            raise InboundError(text)
        after = await act(reminders, action, stored)
        return after.due if after else ""

    return with_bus(ctx, work)


def _reminders(bus: "Bus") -> "Reminders":
    from daemon.config import QueueConfig
    from daemon.reminders import Reminders

    return Reminders(bus, QueueConfig())  # its limits only matter where reminders fire


async def _rows(bus: "Bus", session: str) -> list[dict[str, Any]]:
    from daemon.reminders import all_reminders

    reminders = _reminders(bus)
    found = await reminders.of(session) if session else [each async for each in all_reminders(bus, reminders)]
    rows = [_row(stored.session, stored.id, stored.reminder) for stored in found]
    return sorted(rows, key=lambda row: (row["due"] or "~", row["session"], row["id"]))


def _row(session: str, reminder_id: str, reminder: Any) -> dict[str, Any]:
    if reminder is None:
        unreadable = {"due": "", "state": "unreadable", "kind": "", "rule": "", "text": ""}
        return {"session": session, "id": reminder_id, **unreadable}
    state = " ".join(filter(None, ("paused" if reminder.paused else "active", reminder.held)))
    row = {"session": session, "id": reminder_id, "due": reminder.due, "state": state, "kind": reminder.kind}
    return {**row, "rule": reminder.rule, "text": reminder.text}


async def _added(process: "Process", session: str, *, zone: str | None, **asked: Any) -> dict[str, Any]:
    import secrets

    import msgspec

    from daemon.reminders import ReminderRequest, Reminders, add, confirmed

    place = await _place(process, session)
    bot, reminders = process.bot(place.bot), Reminders(process.bus, process.config.queue)
    wish = ReminderRequest(**asked, zone=zone or bot.time_zone)
    new = await add(reminders, wish, place, asked_as=secrets.token_hex(8), at_most=bot.reminders.chat_max)
    return {"reminder": msgspec.to_builtins(new), "said": confirmed(new, language(), when=wish.when)}


async def _place(process: "Process", session: str) -> "ReminderPlace":
    from daemon.reminders import place_in
    from daemon.sessionkey import SessionKey

    config = process.config.channels.get(SessionKey.parse(session).channel)
    place = await place_in(process.bus, config, session) if config else None
    if place is None:
        if config:
            raise InboundError(f"session {session} was not found. To list all sessions, run `millpond session list`.")
        raise InboundError(f"the channel of session {session} was not found in the configuration. Add the channel.")
    return place

"""``millpond person``: people whose identities share a memory, and linking identities by hand."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from daemon.cli.command_setup import LazyGroup, with_bus, with_process
from daemon.cli.memory_command import author
from daemon.cli.output.table_output import print_json, say, table, tell
from daemon.errors import InboundError, JobRefused

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.jobs import JobRecord
    from daemon.process import Process

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
BOT = click.option("--bot", help="Name of the bot, if the channel is not in the configuration.")

WITHIN_S = 900.0
"""Limit for a command. After that the job continues in any process with the role consolidation."""

_T = TypeVar("_T")


@click.group(cls=LazyGroup, lazy={"forget": "forget_command:forget_person"})
def person() -> None:
    """Manage the people whom bots remember.

    PERSON is <channel>:<sender>, as shown by /whoami, or the scope of the person's memory.
    """


@person.command("list")
@JSON
@click.pass_context
def list_(ctx: click.Context, *, as_json: bool) -> None:
    """List each shared memory and the linked identities that share it."""
    rows = with_bus(ctx, _links)
    if as_json:
        print_json({"links": rows})
    elif not rows:
        tell("nobody is linked")
    else:
        table(("memory", "shared by", "linked by", "since"), [tuple(row.values()) for row in rows])


@person.command()
@click.argument("name", metavar="PERSON")
@BOT
@JSON
@click.pass_context
def show(ctx: click.Context, name: str, *, bot: str | None, as_json: bool) -> None:
    """Show one person's identities (accounts that share one memory) and sessions."""
    shown = with_process(ctx, lambda process: _shown(process, _scope(process, name, bot)))
    if as_json:
        print_json(shown)
        return
    tell(f"memory: {shown['home']}, version {shown['version']}")
    for identity in shown["identities"]:
        say(f"{identity['scope']}: " + (", ".join(identity["sessions"]) or "no sessions"))


@person.command()
@click.argument("into", metavar="PERSON")
@click.argument("other", metavar="OTHER")
@BOT
@JSON
@click.pass_context
def link(ctx: click.Context, into: str, other: str, *, bot: str | None, as_json: bool) -> None:
    """Link PERSON and OTHER, so that bots treat both identities as one person.

    The memory of OTHER is merged into the memory of PERSON.
    """

    async def asked(process: "Process") -> str:
        from daemon.people import LinkRequests

        return await LinkRequests(process).link(_scope(process, into, bot), _scope(process, other, bot), by=author()[0])

    record = with_process(ctx, lambda process: _done(process, asked))
    if as_json:
        print_json(record)
    else:
        tell(f"{other} now shares {into}'s memory")


@person.command()
@click.argument("name", metavar="PERSON")
@BOT
@JSON
@click.pass_context
def unlink(ctx: click.Context, name: str, *, bot: str | None, as_json: bool) -> None:
    """Unlink PERSON. PERSON keeps their own memory and every fact that was learned in their own chats."""

    async def asked(process: "Process") -> str:
        from daemon.people import LinkRequests

        job = await LinkRequests(process).unlink(_scope(process, name, bot), by=author()[0])
        if job is None:
            raise JobRefused(f"{name} is not linked to anyone. To list the linked people, run `millpond person list`.")
        return job

    record = with_process(ctx, lambda process: _done(process, asked))
    if as_json:
        print_json(record)
    else:
        tell(f"{', '.join(record.report['members'])}: unlinked from {record.report['home']}")


async def _done(process: "Process", ask: Callable[["Process"], Awaitable[str]]) -> "JobRecord":
    from daemon.job_handlers import job_runner

    record = await job_runner(process).until_ended(await ask(process), within_s=WITHIN_S)
    if record.status == "failed":
        raise JobRefused(str(record.report.get("error", "the operation failed")))
    return record


async def _links(bus: "Bus") -> list[dict[str, str]]:
    from daemon.people import LinkIndex

    links = await LinkIndex(bus).links()
    return [
        {"home": link.home, "member": scope, "by": link.by, "time": link.time}
        for scope, link in sorted(links.items(), key=lambda item: (item[1].home, item[0]))
    ]


async def _shown(process: "Process", scope: str) -> dict[str, Any]:
    from daemon.memory import Memories
    from daemon.people import LinkIndex, sessions_of

    family = await LinkIndex(process.bus).family(scope)
    sessions = await sessions_of(process.bus, set(family))
    if not sessions and len(family) == 1 and not await process.bus.call("EXISTS", process.bus.keys.memory(scope)):
        raise InboundError(
            f"{scope}: this person has never sent a message. To list all sessions, run `millpond session list`."
        )
    identities = [
        {"scope": each, "sessions": sorted(session for session, own in sessions.items() if own == each)}
        for each in family
    ]
    return {
        "home": family[0],
        "version": (await Memories(process.bus).current(family[0])).version,
        "identities": identities,
    }


def _scope(process: "Process", name: str, bot: str | None) -> str:
    """The scope that a person means by ``name``."""
    from daemon.errors import BadSessionKey
    from daemon.people import is_person
    from daemon.scope import person_scope
    from daemon.sessionkey import SessionKey

    if is_person(name):
        return name
    try:
        key = SessionKey.parse(name)
    except BadSessionKey:
        key = None
    if key is None or key.thread:
        raise InboundError(
            f"{name} is not a person's ID. Write <channel>:<sender>, as shown by /whoami, or the scope of a memory."
        )
    channel = process.config.channels.get(key.channel)
    owner = bot or (channel.bot if channel else None)
    if owner is None:
        raise InboundError(f"{name}: channel {key.channel!r} is not in this configuration. Specify the bot with --bot.")
    return person_scope(owner, key.channel, key.chat)

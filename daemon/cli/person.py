"""``millpond person``: whom bots remember as one, and linking several identities by hand."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from daemon.cli.connected import with_bus, with_process
from daemon.cli.memory import author
from daemon.cli.table import print_json, say, table
from daemon.errors import InboundError, JobRefused

if TYPE_CHECKING:
    from daemon.bus import Bus
    from daemon.jobs import JobRecord
    from daemon.process import Process

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
BOT = click.option("--bot", help="Whose memory; needed only where a channel is not in the configuration.")

WITHIN_S = 900.0
"""How long a command waits; the job goes on without it wherever the role consolidation runs."""

_T = TypeVar("_T")


@click.group()
def person() -> None:
    """Look after the people whom bots remember.

    A PERSON is named as /whoami names him, <channel>:<sender>, or by the scope of his memory.
    """


@person.command("list")
@JSON
@click.pass_context
def list_(ctx: click.Context, *, as_json: bool) -> None:
    """List those who are linked: whose memory it is, and who shares it."""
    rows = with_bus(ctx, _links)
    if as_json:
        print_json({"links": rows})
    elif not rows:
        click.echo("nobody is linked")
    else:
        table(("memory", "shared by", "linked by", "since"), [tuple(row.values()) for row in rows])


@person.command()
@click.argument("name", metavar="PERSON")
@BOT
@JSON
@click.pass_context
def show(ctx: click.Context, name: str, *, bot: str | None, as_json: bool) -> None:
    """Show one person: the identities that share a memory, and their sessions."""
    shown = with_process(ctx, lambda process: _shown(process, _scope(process, name, bot)))
    if as_json:
        print_json(shown)
        return
    say(f"memory: {shown['home']}, version {shown['version']}")
    for identity in shown["identities"]:
        say(f"{identity['scope']}: " + (", ".join(identity["sessions"]) or "no sessions"))


@person.command()
@click.argument("into", metavar="PERSON")
@click.argument("other", metavar="OTHER")
@BOT
@JSON
@click.pass_context
def link(ctx: click.Context, into: str, other: str, *, bot: str | None, as_json: bool) -> None:
    """Have a bot remember PERSON and OTHER as one; OTHER's memory becomes a part of PERSON's."""

    async def asked(process: "Process") -> str:
        from daemon.people import Asking

        return await Asking(process).link(_scope(process, into, bot), _scope(process, other, bot), by=author()[0])

    record = with_process(ctx, lambda process: _done(process, asked))
    if as_json:
        print_json(record)
    else:
        say(f"{other} is remembered together with {into} now")


@person.command()
@click.argument("name", metavar="PERSON")
@BOT
@JSON
@click.pass_context
def unlink(ctx: click.Context, name: str, *, bot: str | None, as_json: bool) -> None:
    """Have a bot remember PERSON apart again: what he had before, and what came of his own chats since."""

    async def asked(process: "Process") -> str:
        from daemon.people import Asking

        job = await Asking(process).unlink(_scope(process, name, bot), by=author()[0])
        if job is None:
            raise JobRefused(f"{name} is linked with nobody; `millpond person list` shows who is")
        return job

    record = with_process(ctx, lambda process: _done(process, asked))
    if as_json:
        print_json(record)
    else:
        say(f"{', '.join(record.report['members'])}: remembered apart from {record.report['home']} now")


async def _done(process: "Process", ask: Callable[["Process"], Awaitable[str]]) -> "JobRecord":
    from daemon.handlers import job_runner

    record = await job_runner(process).until_ended(await ask(process), within_s=WITHIN_S)
    if record.status == "failed":
        raise JobRefused(str(record.report.get("error", "it could not be done")))
    return record


async def _links(bus: "Bus") -> list[dict[str, str]]:
    from daemon.people import People

    links = await People(bus).links()
    return [
        {"home": link.home, "member": scope, "by": link.by, "time": link.time}
        for scope, link in sorted(links.items(), key=lambda item: (item[1].home, item[0]))
    ]


async def _shown(process: "Process", scope: str) -> dict[str, Any]:
    from daemon.memory import Memories
    from daemon.people import People, sessions_of

    family = await People(process.bus).family(scope)
    sessions = await sessions_of(process.bus, set(family))
    if not sessions and len(family) == 1 and not await process.bus.call("EXISTS", process.bus.keys.memory(scope)):
        raise InboundError(f"{scope}: nobody of that name ever wrote; `millpond session list` shows who did")
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
    from daemon.sessionkey import SessionKey, encode_part

    if is_person(name):
        return name
    try:
        key = SessionKey.parse(name)
    except BadSessionKey:
        key = None
    if key is None or key.thread:
        raise InboundError(
            f"{name} names nobody: write <channel>:<sender> as /whoami shows it, or the scope of a memory"
        )
    channel = process.config.channels.get(key.channel)
    owner = bot or (channel.bot if channel else None)
    if owner is None:
        raise InboundError(f"{name}: this configuration has no channel {key.channel!r}; name the bot with --bot")
    return f"{encode_part(owner)}:person:{encode_part(key.channel)}:{encode_part(key.chat)}"

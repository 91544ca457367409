"""``millpond session|memory|person forget``: shows the matching data, asks for confirmation, and reports the result."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import EX_TEMPFAIL, language, loaded, translated, with_process
from daemon.cli.memory_command import scope_named
from daemon.cli.output.table_output import print_json, say, tell
from daemon.cli.session_command import key_of, unknown
from daemon.errors import InboundError

if TYPE_CHECKING:
    from daemon.forget import ForgetOrder, ForgetSearch, Matches
    from daemon.jobs import JobRecord
    from daemon.process import Process

YES = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")

WITHIN_S = 3_600.0
"""Limit for the command. After that the job continues in any process with the role consolidation."""


@dataclass(frozen=True, kw_only=True)
class ForgetSelection:
    """The requested deletion, and the amount of matching data."""

    order: "ForgetOrder"
    extent: Mapping[str, int]
    """How much, by tier."""
    matches: "Matches | None" = None
    """Of a text."""


@click.command("forget")
@click.argument("name", metavar="SESSION")
@YES
@JSON
@click.pass_context
def forget_session(ctx: click.Context, name: str, *, yes: bool, as_json: bool) -> None:
    """Delete all messages of SESSION, and all parts of memory that came from these messages.

    The command removes the session's messages, transcripts, notes and history, and the lines of MEMORY.md that came
    from the session. The session itself remains and accepts new messages.
    """
    key = key_of(ctx, name)
    _forget(ctx, with_process(ctx, lambda process: _session(process, key), makes=False), yes=yes, as_json=as_json)


@click.command("forget")
@click.argument("name", metavar="SCOPE|SESSION")
@click.argument("what", metavar="[WHAT]", required=False)
@click.option("--only", metavar="1,3", help="Delete only the matches with these numbers.")
@YES
@JSON
@click.pass_context
def forget_memory(
    ctx: click.Context, name: str, *, what: str | None, only: str | None, yes: bool, as_json: bool
) -> None:
    """Delete the text WHAT wherever it occurs in a memory's data. Without WHAT, delete all of the memory's data.

    A memory's data consists of the memory itself, its history, notes, conversations and files.
    """
    if only and not what:
        raise click.UsageError("--only selects matches of WHAT, so WHAT is required")
    meant = with_process(ctx, lambda process: _memory(ctx, process, name, what), makes=False)
    _forget(ctx, meant, what=what, only=only, yes=yes, as_json=as_json)


@click.command("forget")
@click.argument("person", metavar="PERSON")
@YES
@JSON
@click.pass_context
def forget_person(ctx: click.Context, person: str, *, yes: bool, as_json: bool) -> None:
    """Delete a person's memory, conversations, files, messages in groups, and name in the usage records.

    PERSON is `<channel>:<sender>`, as shown by `/whoami`, or a person's scope. The command keeps statements that
    other people made about the person in groups, and memory that came from these statements. To delete such
    statements, use `millpond memory forget GROUP WHAT`.
    """
    meant = with_process(ctx, lambda process: _person(ctx, process, person), makes=False)
    _forget(ctx, meant, yes=yes, as_json=as_json)


def _forget(
    ctx: click.Context,
    meant: ForgetSelection,
    *,
    yes: bool,
    as_json: bool,
    what: str | None = None,
    only: str | None = None,
) -> None:
    from daemon.forget import ForgetSearch, matches_text, report_text
    from daemon.wording import text

    if not meant.extent:
        raise InboundError(
            f"{meant.order.name}: no {('matching ' if what else '')}data was found, so nothing was deleted"
        )
    search = None
    if meant.matches is not None and what is not None:
        search = ForgetSearch(text=what, chosen=_chosen(meant.matches, only) if only else None)
    if not yes:
        if meant.matches is not None and not only:
            say(matches_text(meant.matches.shown, meant.matches.more, language(), how=False))
            if meant.matches.waits:
                say(text("forget_unsearched", language()))
        elif meant.matches is None:
            say(f"{meant.order.name}: " + ", ".join(f"{tier} {count}" for tier, count in meant.extent.items()))
        click.confirm(translated("Delete this? It cannot be undone"), abort=True)
    record = with_process(ctx, lambda process: _done(process, meant.order, search), makes=False)
    if as_json and record.has_ended:
        print_json(record.report)
    elif record.status == "failed":
        raise InboundError(f"{meant.order.name}: {record.report.get('error', 'the data could not be deleted')}")
    elif record.partly:
        tell(f"{meant.order.name}: {record.reason} (`millpond queue jobs`).", err=True)
        ctx.exit(EX_TEMPFAIL)
    else:
        say(report_text(record.report, language(), for_operator=True))


def _chosen(matches: "Matches", only: str) -> tuple[str, ...]:
    from daemon.forget import choice_of

    numbers = choice_of(only).numbers
    if not numbers or not all(1 <= number <= len(matches.shown) for number in numbers):
        raise InboundError(
            f"--only {only} cannot be used. Write numbers from 1 to {len(matches.shown)}, for example 1,3."
        )
    return tuple(matches.shown[number - 1].group for number in numbers)


async def _done(process: "Process", order: "ForgetOrder", search: "ForgetSearch | None") -> "JobRecord":
    import secrets

    from daemon.forget import ForgetRequests
    from daemon.job_handlers import job_runner

    runner = job_runner(process)
    job_id = await ForgetRequests(process.bus, runner.jobs).order(order, search, name=secrets.token_hex(8))
    return await runner.until_ended(job_id, within_s=WITHIN_S)


# What is meant


async def _session(process: "Process", key: str) -> ForgetSelection:
    from daemon.forget import ForgetOrder, extent_of, scopes_with, stores_for
    from daemon.session import SessionReader

    state = await SessionReader(process.bus).state(key)
    if not state.exists:
        raise InboundError(await unknown(process.bus, key))
    order = ForgetOrder(whole="session", name=key, session=key, scopes=await scopes_with(process.bus, state.scope))
    return ForgetSelection(order=order, extent=await extent_of(stores_for(process), order))


async def _memory(ctx: click.Context, process: "Process", name: str, what: str | None) -> ForgetSelection:
    from daemon.forget import ForgetOrder, choice_of, extent_of, matches_of, scopes_with, stores_for

    scope = await scope_named(ctx, process.bus, name)
    scopes, stores = await scopes_with(process.bus, scope), stores_for(process)
    if what is None:
        order = ForgetOrder(whole="scope", name=scope, scopes=scopes)
        return ForgetSelection(order=order, extent=await extent_of(stores, order))
    if choice_of(what).kind in ("nothing", "short", "long"):
        raise InboundError(f"{what!r} is too short or too long to search for. Write 2 to 500 characters.")
    order = ForgetOrder(name=scope, scopes=scopes)
    matches = await matches_of(stores, order, what)
    return ForgetSelection(order=order, extent=matches.counts, matches=matches)


async def _person(ctx: click.Context, process: "Process", person: str) -> ForgetSelection:
    from daemon.forget import ForgetOrder, extent_of, scopes_with, stores_for

    bot, name = _named(ctx, person)
    scopes = await scopes_with(process.bus, f"{bot}:person:{name}")
    people = tuple(scope.split(":", 2)[2] for scope in scopes)
    order = ForgetOrder(whole="person", name=name, scopes=scopes, people=people, bot=bot)
    return ForgetSelection(order=order, extent=await extent_of(stores_for(process), order))


def _named(ctx: click.Context, person: str) -> tuple[str, str]:
    """The bot's name and the person's, as scopes hold them."""
    from daemon.sessionkey import SessionKey, encode_part

    bot, kind, rest = (*person.split(":", 2), "", "")[:3]
    if kind == "person" and rest:
        return bot, rest
    key = SessionKey.parse(person)
    channel = loaded(ctx).config.channels.get(key.channel)
    if channel is None or key.thread:
        raise InboundError(
            f"{person} is not a person's ID. Enter <channel>:<sender>, where <channel> is a channel in the "
            "configuration, or enter the person's scope."
        )
    return encode_part(channel.bot), str(key)

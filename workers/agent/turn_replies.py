"""The replies and notices that a turn's ending leaves. Pure."""

from collections.abc import Sequence
from typing import Literal

from daemon.events import Inbound, Notice, Reply
from daemon.session import Change, Claim, PendingMessage, SessionNotice
from workers.agent.commands.command_outcome import Outcome, answered_as
from workers.agent.turn_progress import Turn, inbounds

NOTHING = Outcome(text="")
"""Beside a word that no command says."""


def word_of(
    claim: Claim,
    inbound: Inbound,
    text: str,
    *,
    time: str,
    kind: Literal["aside", "parked"] = "aside",
    outcome: Outcome | None = None,
) -> SessionNotice:
    """The word ``text`` about ``inbound``, with the files and choices of ``outcome``."""
    given = outcome or NOTHING
    notice = Notice(
        kind=kind,
        text=text,
        time=time,
        message_id=inbound.id,
        attachments=given.attachments,
        choices=given.choices,
    )
    reply = None
    if inbound.delivery == "push":
        # No number alone: the replies of turns are named by a head, and this must not be taken for one of them.
        reply = Reply(
            id=f"{claim.session}#{kind}-{claim.begun.claims}",
            session=claim.session,
            turn=claim.begun.head,
            text=text,
            correlation=inbound.correlation,
            attachments=given.attachments,
            reply_to=answered_as(inbound),
            answers=(inbound.id,) if kind == "aside" else (),
            choices=given.choices,
        )
    return SessionNotice(notice=notice, reply=reply, out_channel=inbound.channel)


def change_of(words: Sequence[SessionNotice], outcomes: Sequence[Outcome]) -> Change:
    """What a commit changes beside the log when ``words`` are said aside and commands had ``outcomes``."""
    chosen = [outcome.options for outcome in outcomes if outcome.options is not None]
    return Change(
        notices=tuple(word.notice for word in words),
        start_over=any(outcome.start_over for outcome in outcomes),
        options=chosen[-1] if chosen else None,
    )


def ids_of(waiting: Sequence[PendingMessage]) -> list[str]:
    """The ids of the readable ones."""
    return [entry.inbound.id for entry in waiting if entry.inbound is not None]


def reply_of(turn: Turn, text: str) -> Reply | None:
    """The reply that sends ``text`` as the end of a turn; None: nothing is sent."""
    if turn.first.delivery != "push" or not text:
        return None
    claim, said = turn.claim, inbounds(turn.covered)
    return Reply(
        id=f"{claim.session}#{claim.begun.head}",
        session=claim.session,
        turn=claim.begun.head,
        text=text,
        correlation=turn.first.correlation,
        attachments=turn.spoken,
        reply_to=answered_as(said[-1]) if said else "",
        answers=tuple(each.id for each in said if each.reminder is None),
    )

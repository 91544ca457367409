"""Looking at what a soak left: each household's conversations in turn, what the chats show, what processes held."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from daemon.events import LogEntry
from daemon.overview import read_unknown
from daemon.recall.index.indexes import OPEN_MAX
from daemon.sessionkey import SessionKey
from tests.chaos.kept import Conversation
from tests.chaos.marks import marked
from tests.chaos.recording import waiting_in
from tests.chaos.remains import kept_of
from tests.chaos.tally import Record, said, tally
from tests.chaos.waits import impatient, waits
from tests.soak import sent
from tests.soak.chats import Chat
from tests.soak.driver import Run
from tests.soak.findings import Findings
from tests.soak.flat import MIB, Limits, Span, growing
from tests.soak.mind import HEARD
from tests.soak.sent import Reply, Talk
from tests.soak.setting import LAKE, PUSH, SLOTS, TERMINAL, TURN_WAIT_S, WORK

UNKNOWN_ALL = 10_000
WAIT_MAX_S = TURN_WAIT_S + 3.0
"""A turn's longest wait for a consolidation: what it may wait, and noticing that late on a machine that is busy."""

RATE_LEAST = 0.9  # share of the rate asked for that is enough
MESSAGES_LEAST = 3_000
"""After fewer messages some code runs for the first time, and caches fill, in the part of the run that is measured."""

AGENT_GROWTH = 32 * MIB
"""An agent fills what it keeps at hand, vectors above all: a KiB for each message of the chats that it searches,
whoever answered it, and no more than 96 MiB. Over the second half of three minutes it rose by 15 to 25 MiB, with the
indexes that were opened meanwhile; what is planted as a leak is 64 KiB a turn, three times as much.
"""

INDEX_FILES = 6 * OPEN_MAX
"""Words and vectors of each index that may be open at a time, with SQLite's log and shared memory beside each."""
LIMITS: Mapping[str, Limits] = {
    **dict.fromkeys(("channels", "terminal"), Limits(files=SLOTS + 8.0)),
    **dict.fromkeys(("web", "consolidation"), Limits(files=SLOTS + 8.0, indexes=INDEX_FILES)),
    "agent": Limits(memory=AGENT_GROWTH, files=SLOTS + 8.0, indexes=INDEX_FILES),
    "server": Limits(memory=16 * MIB, files=4 * SLOTS + 8.0),
}
"""What is no leak: pools keep a connection for each turn that there ever was at a time, and the server the other end of
each. A leak by the message is beyond both within seconds; one of each restart of the server takes the hour.
"""


async def judge(run: Run) -> Findings:
    """Everything that is wrong with a run that is over; counts what it meets on its way."""
    found = Findings()
    waiting, listed = await waiting_in(run.process.bus), await _listed(run)
    shown = _by_session(run)
    homes: dict[str, list[Chat]] = defaultdict(list)
    for chat in run.crowd.chats:
        if chat.session and chat.count:
            homes[chat.home].append(chat)
    for chats in homes.values():
        await _judge_home(run, chats, shown, listed, waiting, found)
    found.add("unread", [each for reader in run.readers for each in reader.wrong])
    _judge_watched(run, found)
    return found


def _judge_watched(run: Run, found: Findings) -> None:
    gallery = run.mind.gallery
    found.add("backward", run.cursors.back)
    found.add("overfull", gallery.overfull)
    found.add("orphaned", gallery.orphaned)
    found.add("impatient", impatient(list(waits(run.folder)), run.harm.halts, most_s=WAIT_MAX_S))
    found.add("strange", run.mind.strange)
    found.add("problems", run.problems)
    found.add("fallen", run.harm.fallen)
    found.add("ungraceful", run.harm.ungraceful)
    grown = growing(run.gauges.samples, Span(began_s=run.began, seconds=run.loaded_s), LIMITS)
    found.add(growth_of(run.crowd.said.total(), is_slow=rate(run) < RATE_LEAST * run.plan.rate), grown)
    found.add("tardy", run.harm.tardy)
    found.add("left", [f"{count} {what}" for what, count in run.drain.left.items() if count])
    found.add("stopped", [run.drain.stopped] * bool(run.drain.stopped))
    found.add("check", run.check.splitlines())
    if run.typed.code:
        found.add("problems", [f"the terminal ended with {run.typed.code}"])
    if rate(run) < RATE_LEAST * run.plan.rate:
        found.add("slow", [f"{rate(run):.1f} messages a second were answered, {run.plan.rate:g} were asked for"])


def growth_of(messages: int, *, is_slow: bool) -> str:
    return "warming" if is_slow or messages < MESSAGES_LEAST else "growing"


def rate(run: Run) -> float:
    """Messages that were answered in a second, while more came."""
    return (run.crowd.said.total() - run.left_then) / run.loaded_s


async def _judge_home(
    run: Run,
    chats: Sequence[Chat],
    shown: Mapping[str, Sequence[str]],
    listed: Mapping[str, Mapping[int, Sequence[str]]],
    waiting: frozenset[tuple[str, str]],
    found: Findings,
) -> None:
    kept = await kept_of(run.process, {chat.session: chat.name for chat in chats})
    logs = {each.session: each.entries for each in kept.conversations}
    accepted = {chat.session: _accepted(chat, logs[chat.session]) for chat in chats}
    found.take(tally(Record(accepted=accepted, logs=logs, waiting=waiting, kept=kept)))
    for chat, conversation in zip(chats, kept.conversations, strict=True):
        talk = Talk(
            session=chat.session,
            name=chat.name,
            replies=list(_replies(conversation)),
            shown=shown.get(chat.session, ()) if chat.channel in (PUSH, LAKE, WORK, TERMINAL) else None,
            listed=listed.get(chat.session, {}),
        )
        for check in sent.CHECKS:
            found.add(check.__name__, check(talk))
        run.counts.doubled += sent.doubled(talk)
        run.counts.given_up += sent.given_up(talk)
        run.counts.turns += len(talk.replies)
    run.counts.consolidated += sum(len(entries) for _, _, entries in kept.each())


def _accepted(chat: Chat, log: Sequence[LogEntry]) -> Sequence[str]:
    """The ids of a chat's messages, in the order in which they were accepted."""
    if chat.channel == TERMINAL:
        # Ids are made by the process on the terminal; what it was told is known by its marks.
        own = {number: entry.id for entry in log if entry.id for number in _numbers(entry, chat.name)}
        return [own.get(number, f"message {number}") for number in range(chat.count)]
    if chat.channel == WORK:
        # What was not acknowledged is brought again, behind what was said later: the log says in which order.
        order = {name: at for at, name in enumerate(said(log))}
        return sorted(chat.ids, key=lambda name: order.get(name, len(order)))
    return chat.ids


def _replies(conversation: Conversation) -> Iterator[Reply]:
    numbers = {entry.id: _numbers(entry, conversation.name) for entry in conversation.entries if entry.id}
    for entry in conversation.entries:
        if entry.answers:
            text = str(json.loads(bytes(entry.wire)).get("content"))
            answers = [number for name in entry.answers for number in numbers.get(name, ())]
            yield Reply(turn=entry.turn, text=text, answers=answers)


def _numbers(entry: LogEntry, name: str) -> frozenset[int]:
    return marked(bytes(entry.wire).decode()).get(name, frozenset())


async def _listed(run: Run) -> Mapping[str, Mapping[int, Sequence[str]]]:
    """What ``queue unknown`` says: session → turn → what became of each try."""
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for each in await read_unknown(run.process.bus, limit=UNKNOWN_ALL):
        run.counts.unknown[each.action] = run.counts.unknown.get(each.action, 0) + 1
        session, _, turn = each.reply.rpartition("#")
        if turn.isdecimal():
            found[session][int(turn)].append(each.action)
    return found


def _by_session(run: Run) -> Mapping[str, Sequence[str]]:
    """The replies that chats show; what was said aside is left out."""
    found: dict[str, list[str]] = defaultdict(list)
    for post in run.platform.delivered:
        found[post["session"]].append(post["text"])
    for chat in run.crowd.chats:
        if not chat.session:
            continue
        key = SessionKey.parse(chat.session)
        if chat.channel == LAKE:
            found[chat.session] = run.telegram.world.chats[run.telegram.bot.person.id, int(key.chat)].texts()
        elif chat.channel == WORK:
            found[chat.session] = run.slack.team.channels[key.chat].texts(thread=key.thread or None)
        elif chat.channel == TERMINAL:
            found[chat.session] = run.typed.shown.splitlines()
    return {session: [text for text in texts if text.startswith(HEARD)] for session, texts in found.items()}

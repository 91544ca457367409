"""Any order of steps by any workers, copies of earlier calls arriving late among them, keeps what is promised.

The model is what a reader of the promises would expect; the system under test are the real scripts on a real server.
Deadlines are long and moved by hand, so that nothing here depends on the time that passes.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from daemon.bus import open_bus, reap, wake
from daemon.config import QueueConfig, RedisConfig
from daemon.errors import LeaseLost, SessionFull
from daemon.events import LogEntry, Notice
from daemon.session import SUSPECT_DEATHS, Change, Claim, Commit, MessageEdits
from tests.conftest import Lab, an_entry, an_inbound, check_and_remove_keys, server_ms
from tests.oneloop import OneLoop, one_loop

SESSIONS = ("web:ann", "web:bob", "web:%E6%88%91")
REMEMBERED = 5  # claims of the past that somebody may still act on
BACK = st.sampled_from([0, 0, 0, 1, 1, 2, 3, 4])  # whose claim is acted on: how many claims ago
QUEUE = QueueConfig(waiting_max=4, lease_s=600.0, wakeup_s=600.0, backoff_max_s=600.0)
REST_S = 300.0
LONGEST_MS = 1_200_000  # of ``QUEUE``: no deadline may be further off
HINTS = ("ready", "due")  # what a late copy may change: where a session is looked for, never what it holds
_encode = msgspec.json.Encoder().encode


@dataclass
class Talk:
    accepted: list[str] = field(default_factory=list)  # ids in the order of their acceptance
    settled: list[str] = field(default_factory=list)  # ids answered, dead or dealt with aside, in order
    log: list[LogEntry] = field(default_factory=list)
    journal: list[LogEntry] = field(default_factory=list)
    stop: str = ""  # id of the newest stop that waits, or of the message whose withdrawal stops its turn
    stops: set[str] = field(default_factory=set)  # ids of all stops
    fence: int = 0
    claims: int = 0
    attempts: int = 0
    deaths: int = 0
    nonce: str = ""
    last_commit: tuple[int, str] = (0, "")  # claim number and nonce of the newest commit
    start: int = 0
    noticed: list[str] = field(default_factory=list)  # what was said aside by commits
    told: bool = False  # whether its people know that it is parked
    texts: dict[str, str] = field(default_factory=dict)  # what messages say that were edited, by id
    withdrawn: list[str] = field(default_factory=list)  # ids of those that were taken back before anybody read them

    @property
    def waiting(self) -> list[str]:
        return self.accepted[len(self.settled) :]

    @property
    def taken(self) -> list[str]:
        return self.waiting[: self.waiting.index(self.stop) + 1] if self.stop else self.waiting[:1]


@dataclass
class Held:
    """What a worker was given once, and may act on long after it lost it."""

    session: str
    claim: Claim
    step: int
    stop: str  # id of the stop that it knew of when its turn began


@dataclass
class Seen:
    now: int
    due: dict[str, int]
    ready: list[str]
    inbox: dict[str, str]
    dead: list[str]
    hashes: dict[str, dict[str, str]]
    logs: dict[str, list[bytes]]
    waiting: dict[str, list[str]]
    notices: dict[str, list[str]]

    def ahead(self, session: str, name: str) -> bool:
        return self.now < int(self.hashes[session].get(name, "0")) <= self.now + LONGEST_MS

    def state(self, *but: str) -> dict[str, Any]:
        """All of it for a comparison, apart from the time and from fields or keys named."""
        found = {name: value for name, value in vars(self).items() if name not in ("now", *but)}
        found["hashes"] = {
            session: {name: value for name, value in fields.items() if name not in but}
            for session, fields in self.hashes.items()
        }
        return found


async def look(lab: Lab) -> Seen:
    """Read everything, in one pipeline and in this task: a machine looks thousands of times."""
    keys = lab.bus.keys
    reads: dict[str, tuple[Any, ...]] = {
        "due": ("ZRANGE", keys.due(0), 0, -1, "WITHSCORES"),
        "ready": ("ZRANGE", keys.ready(0), 0, -1),
        "in": ("XRANGE", keys.inbox(0), "-", "+"),
        "dead": ("XRANGE", keys.dead(0), "-", "+"),
    }
    for session in SESSIONS:
        reads[f"hash {session}"] = ("HGETALL", keys.session(session))
        reads[f"log {session}"] = ("LRANGE", keys.log(session), 0, -1)
        reads[f"waiting {session}"] = ("LRANGE", keys.waiting(session), 0, -1)
        reads[f"notices {session}"] = ("XRANGE", keys.notices(session), "-", "+")
    found = dict(zip(reads, await lab.bus.each(list(reads.values())), strict=True))
    return Seen(
        now=await server_ms(lab.bus),
        due={name.decode(): int(float(score)) for name, score in found["due"]},
        ready=[name.decode() for name in found["ready"]],
        inbox={stream_id.decode(): fields[b"id"].decode() for stream_id, fields in found["in"]},
        dead=[fields[b"id"].decode() for _, fields in found["dead"]],
        hashes={
            session: {name.decode(): value.decode() for name, value in found[f"hash {session}"].items()}
            for session in SESSIONS
        },
        logs={session: found[f"log {session}"] for session in SESSIONS},
        waiting={session: [name.decode() for name in found[f"waiting {session}"]] for session in SESSIONS},
        notices={
            session: [msgspec.json.decode(fields[b"notice"])["text"] for _, fields in found[f"notices {session}"]]
            for session in SESSIONS
        },
    )


class SessionMachine(RuleBasedStateMachine):
    """Publishers, workers that pause for long and act on what they lost, a reaper and a bad network."""

    loop: OneLoop
    lab: Lab  # both set by ``machine``

    def __init__(self) -> None:
        super().__init__()
        self.talks = {session: Talk() for session in SESSIONS}
        self.held: list[Held] = []
        self.dead: list[str] = []
        self.count = 0
        self.late: list[tuple[Any, ...]] = []

    def do(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        return self.loop.call(function, *args, **options)

    @initialize()
    def empty_database(self) -> None:
        self.do(check_and_remove_keys, self.lab.bus)
        self.lab.bus.scripts.clear()
        # Rules are left out at random; without a message nothing would happen at all.
        for session in SESSIONS[:2] * 2:
            self.publish(session, stop=False)

    def see(self) -> Seen:
        found: Seen = self.do(look, self.lab)
        return found

    def keep(self) -> None:
        """Remember the call that was just carried out: a copy of it may arrive late."""
        self.late.append(self.lab.bus.scripts[-1])

    # Publishers

    @rule(session=st.sampled_from(SESSIONS), stop=st.sampled_from([False, False, False, True]))
    def publish(self, session: str, stop: bool) -> None:
        talk, self.count = self.talks[session], self.count + 1
        message_id = f"m{self.count}"
        full = len(talk.waiting) >= QUEUE.waiting_max + (16 if stop else 0)
        try:
            accepted = self.do(self.lab.publish, message_id, session=session, command="stop" if stop else "")
        except SessionFull:
            assert full
            return
        assert not full and accepted.status == "accepted"
        self.late.append(next(call for call in reversed(self.lab.bus.scripts) if call[0].name == "publish.lua"))
        talk.accepted.append(message_id)
        if stop:
            talk.stop = message_id
            talk.stops.add(message_id)

    @rule(session=st.sampled_from(SESSIONS), pick=st.integers(0, 99), own=st.booleans())
    def publish_again(self, session: str, pick: int, own: bool) -> None:
        talk, before = self.talks[session], self.see()
        if not talk.accepted:
            return
        known = [*talk.accepted, *talk.withdrawn]
        message_id = known[pick % len(known)]

        again = self.do(
            self.lab.publish, message_id, session=session, correlation=f"c-{message_id}" if own else "another"
        )

        assert (again.status, again.id) == ("accepted" if own else "duplicate", message_id)
        assert self.see().state() == before.state()

    @rule(session=st.sampled_from(SESSIONS), pick=st.integers(0, 99))
    def amend(self, session: str, pick: int) -> None:
        talk, before = self.talks[session], self.see()
        if not talk.accepted:
            return
        message_id, self.count = talk.accepted[-1 - pick % len(talk.accepted)], self.count + 1
        edited = an_inbound(message_id, session=session, text=f"edited {self.count}")

        status = self.do(MessageEdits(self.lab.bus, QUEUE).amend, edited)

        if message_id not in talk.waiting:
            assert status == "unknown"
        elif self.is_late(talk, message_id):
            assert status == "late"
        else:
            assert status == "amended"
            self.keep()
            talk.texts[message_id] = edited.text
            assert self.see().state("inbox", "waiting") == before.state("inbox", "waiting")
            return
        assert self.see().state() == before.state()

    @rule(session=st.sampled_from(SESSIONS), pick=st.integers(0, 99), whose=st.sampled_from(["", "", "ann", "mallory"]))
    def withdraw(self, session: str, pick: int, whose: str) -> None:
        """Somebody takes a message back, whatever has become of it."""
        talk, before = self.talks[session], self.see()
        known = talk.waiting if pick % 4 and talk.waiting else [*talk.withdrawn, *talk.accepted]
        if not known:
            return
        message_id = known[pick % len(known)]

        status = self.do(MessageEdits(self.lab.bus, QUEUE).withdraw, session, message_id, sender_id=whose)

        waiting = talk.waiting
        if message_id not in waiting or whose == "mallory":
            assert status == "unknown"
        elif not self.is_late(talk, message_id):
            assert status == "withdrawn"
            self.keep()
            talk.accepted.remove(message_id)
            talk.withdrawn.append(message_id)
            if message_id == waiting[0]:
                talk.attempts = talk.deaths = 0
            if not talk.waiting:
                talk.told = False
            assert self.see().state(*WITHDRAWN) == before.state(*WITHDRAWN)
            return
        elif message_id == waiting[0] and talk.stop in ("", message_id) and message_id not in talk.stops:
            assert status == "stopped"
            self.keep()
            talk.stop = message_id
            assert self.see().state(*STOPPED) == before.state(*STOPPED)
            return
        else:
            assert status == "late"
        assert self.see().state() == before.state()

    @staticmethod
    def is_late(talk: Talk, message_id: str) -> bool:
        """Whether nothing can be done any more about a message that waits."""
        waiting = talk.waiting
        is_read = bool(talk.nonce or talk.journal) and message_id == waiting[0]
        is_stopped = bool(talk.stop) and waiting.index(message_id) <= waiting.index(talk.stop)
        return is_read or is_stopped or message_id in talk.stops

    # Workers

    @rule(session=st.sampled_from(SESSIONS))
    def claim(self, session: str) -> None:
        talk, before = self.talks[session], self.see()
        kept_away = before.ahead(session, "lease") or before.ahead(session, "retry_at")
        rests = self.rests(session, before)

        claim = self.do(self.lab.sessions.claim, session)

        assert (claim is None) == (kept_away or not talk.waiting or rests)
        after = self.see()
        if rests:
            assert after.ahead(session, "retry_at") and session not in after.ready
            self.keep()
            return
        if claim is None:
            changing = ("parked_told",) if kept_away else EMPTIED
            assert after.state(*HINTS, *changing) == before.state(*HINTS, *changing)
            talk.nonce = after.hashes[session].get("nonce", "")
            return
        self.keep()
        talk.fence, talk.claims, talk.attempts = talk.fence + 1, talk.claims + 1, talk.attempts + 1
        talk.nonce = claim.nonce
        assert claim.fence == talk.fence
        self.begin(session, claim)
        assert after.ahead(session, "lease") and session not in after.ready

    def rests(self, session: str, before: Seen) -> bool:
        """Whether a claim finds that the holder died, and has the session rest before it is tried alone."""
        talk = self.talks[session]
        if not talk.nonce or not talk.waiting or before.ahead(session, "lease"):
            return False
        talk.deaths += 1
        talk.attempts = max(0, talk.attempts - (talk.deaths <= SUSPECT_DEATHS))
        if talk.deaths < SUSPECT_DEATHS or talk.stop or talk.attempts >= QUEUE.attempts_max:
            return False
        talk.nonce, talk.told = "", False
        return True

    @precondition(lambda self: any(talk.nonce for talk in self.talks.values()))
    @rule(data=st.data())
    def take_over(self, data: Any) -> None:
        """A holder pauses for longer than its lease, and another worker claims."""
        session = data.draw(st.sampled_from([session for session, talk in self.talks.items() if talk.nonce]))
        self.do(self.lab.expire, session)
        if not self.see().ahead(session, "lease"):
            self.claim(session)

    def begin(self, session: str, claim: Claim) -> None:
        talk, begun = self.talks[session], claim.begun
        assert (begun.claims, begun.attempts, begun.deaths) == (talk.claims, talk.attempts, talk.deaths)
        assert (begun.head, begun.step) == (len(talk.log), len(talk.journal))
        assert [entry.inbound.id for entry in begun.waiting if entry.inbound] == talk.taken
        said = {entry.inbound.id: entry.inbound.text for entry in begun.waiting if entry.inbound}
        assert {name: text for name, text in talk.texts.items() if name in said}.items() <= said.items()
        assert begun.tokens == sum(entry.tokens for entry in talk.log)
        assert begun.start == talk.start
        assert bool(begun.stop_upto) == bool(talk.stop)
        self.held = [*self.held[-REMEMBERED:], Held(session, claim, begun.step, talk.stop)]

    def acting(self, back: int) -> tuple[str, Held, Talk]:
        """Somebody who was given a session, mostly the last one, and believes to hold it, rightly or not."""
        held = self.held[-1 - back % len(self.held)]
        return held.session, held, self.talks[held.session]

    @precondition(lambda self: self.held)
    @rule(back=BACK)
    def renew(self, back: int) -> None:
        session, held, talk = self.acting(back)
        before = self.see()
        try:
            stop = self.do(self.lab.sessions.renew, held.claim)
        except LeaseLost:
            assert held.claim.nonce != talk.nonce
            assert self.see().state() == before.state()
            return
        assert held.claim.nonce == talk.nonce
        self.keep()
        assert before.inbox.get(stop, "") == talk.stop
        after = self.see()
        assert after.ahead(session, "lease") and after.due[session] == int(after.hashes[session]["lease"])

    @precondition(lambda self: self.held)
    @rule(back=BACK, count=st.integers(1, 3), shift=st.sampled_from([0, 0, 0, 0, 1, -1]))
    def journal(self, back: int, count: int, shift: int) -> None:
        _, held, talk = self.acting(back)
        before = self.see()
        head = held.claim.begun.head
        entries = [an_entry(head, tokens=5, text=f"step {self.count}.{number}") for number in range(count)]
        self.count += 1
        right = held.claim.nonce == talk.nonce and head == len(talk.log) and held.step + shift == len(talk.journal)
        try:
            self.do(self.lab.sessions.journal, held.claim, step=held.step + shift, entries=entries)
        except LeaseLost:
            assert not right
            assert self.see().state() == before.state()
            return
        assert right
        self.keep()
        talk.journal += entries
        talk.attempts = talk.deaths = 0
        held.step = len(talk.journal)

    @precondition(lambda self: self.held)
    @rule(
        back=BACK,
        go_on=st.booleans(),
        dead=st.sampled_from([False, False, False, True]),
        aside=st.booleans(),
        over=st.sampled_from([False, False, True]),
    )
    def commit(self, back: int, go_on: bool, dead: bool, aside: bool, over: bool) -> None:
        session, held, talk = self.acting(back)
        before, claim = self.see(), held.claim
        given = [entry.inbound for entry in claim.begun.waiting if entry.inbound]
        ids = tuple(inbound.id for inbound in given)
        aside = aside and all(inbound.command for inbound in given) and not held.step
        last = an_entry(claim.begun.head, dead=ids) if dead else an_entry(claim.begun.head, answers=ids)
        added = () if aside else (*(an_entry(claim.begun.head, id=i) for i in ids if not held.step), last)
        journalled = talk.journal if held.step == len(talk.journal) else []
        self.count += 1
        notice = Notice(kind="aside", text=f"over {self.count}", time="2026-11-20T09:00:00.000Z")
        commit = Commit(
            change=Change(start_over=True, notices=(notice,)) if over else Change(),
            entries=added,
            tokens=sum(entry.tokens for entry in (*journalled, *added)),
            answered=tuple(entry.stream_id for entry in claim.begun.waiting),
            dead_reason="attempts" if dead and not aside else "",
        )
        again = talk.last_commit == (claim.begun.claims, claim.nonce)
        right = (
            claim.nonce == talk.nonce
            and (claim.begun.head, claim.begun.claims) == (len(talk.log), talk.claims)
            and held.step == len(talk.journal)
        )
        try:
            following = self.do(self.lab.sessions.commit, claim, commit, step=held.step, go_on=go_on)
        except LeaseLost:
            assert not right and not again
            assert self.see().state() == before.state()
            return
        if again:
            assert (following is not None) == (claim.nonce == talk.nonce)
            assert self.see().state() == before.state()
            return
        assert right
        self.keep()
        talk.last_commit = (claim.begun.claims, claim.nonce)
        self.committed(session, ids, added)
        if over:
            talk.start = len(talk.log)
            talk.noticed.append(notice.text)
        if commit.dead_reason:
            self.dead += ids
        assert (following is not None) == (go_on and bool(talk.waiting) and not before.ready)
        if following is None:
            talk.nonce, talk.attempts = "", 0
            assert (session in self.see().ready) == bool(talk.waiting)
        else:
            talk.claims, talk.attempts = talk.claims + 1, 1
            assert (following.nonce, following.fence) == (claim.nonce, claim.fence)
            self.begin(session, following)

    def committed(self, session: str, ids: tuple[str, ...], added: tuple[LogEntry, ...]) -> None:
        talk = self.talks[session]
        assert talk.waiting[: len(ids)] == list(ids)
        talk.settled += ids
        talk.log += [*talk.journal, *added]
        talk.journal = []
        talk.told, talk.deaths = False, 0
        if talk.stop in ids:
            talk.stop = ""

    @precondition(lambda self: self.held)
    @rule(back=BACK, how=st.sampled_from(["hand_over", "back_off", "park"]))
    def release(self, back: int, how: str) -> None:
        session, held, talk = self.acting(back)
        before = self.see()
        options = {} if how == "hand_over" else {"delay_s": REST_S}

        result = self.do(getattr(self.lab.sessions, how), held.claim, **options)

        after = self.see()
        released = before.hashes[session].get("released", "").startswith(held.claim.nonce)
        if held.claim.nonce != talk.nonce or released:
            assert after.state() == before.state()
            return
        self.keep()
        talk.nonce = ""
        if how != "back_off":
            talk.attempts = max(0, talk.attempts - 1)
        rests = how != "hand_over" and talk.stop == held.stop
        assert after.ahead(session, "retry_at") == rests
        assert rests or session in after.ready
        if how == "park":
            assert result == (rests and not talk.told)
            talk.told = talk.told or rests

    # Wake-ups, deadlines, the server

    @rule()
    def reap(self) -> None:
        before = self.see()

        self.do(reap, self.lab.bus, QUEUE)
        self.keep()

        overdue = {name for name, due in before.due.items() if not before.now < due <= before.now + LONGEST_MS}
        after = self.see()
        assert set(after.ready) == set(before.ready) | overdue
        assert after.state(*HINTS) == before.state(*HINTS)

    @rule(session=st.sampled_from(SESSIONS), what=st.sampled_from(["lost", "woken", "overdue", "set back", "flushed"]))
    def something_happens(self, session: str, what: str) -> None:
        """A wake-up gets lost or doubled, deadlines pass or the clock is set back, the script cache is flushed."""
        match what:
            case "lost":
                self.do(self.lab.bus.call, "ZREM", self.lab.bus.keys.ready(0), session)
            case "woken":
                self.do(wake, self.lab.bus, [session])
                self.keep()
                assert (session in self.see().ready) == bool(self.talks[session].waiting)
            case "overdue":
                self.do(self.lab.expire, session)
            case "set back":
                self.do(self.lab.clock_set_back, session)
            case _:
                self.do(self.lab.bus.call, "SCRIPT", "FLUSH")

    @precondition(lambda self: self.late)
    @rule(pick=st.integers(0, 999))
    def a_copy_arrives_late(self, pick: int) -> None:
        """Of any call that was carried out before, with its very arguments."""
        call = self.late[-1 - pick % len(self.late)]
        name, before = call[0].name, self.see()

        self.do(self.lab.bus.arrive, *call)

        after = self.see()
        match name:
            case "reap.lua" | "wake.lua":
                assert after.state(*HINTS) == before.state(*HINTS)
            case "renew.lua":
                assert after.state("due", "lease") == before.state("due", "lease")
            case "withdraw.lua":
                assert after.state(*HINTS, "retry_at") == before.state(*HINTS, "retry_at")
            case "claim.lua":
                self.late_claim(*msgspec.msgpack.decode(call[2][8]), before, after)
            case "release.lua":
                self.late_release(*call[2][:2], before, after)
            case _:
                assert after.state() == before.state(), name

    def late_claim(self, session: str, nonce: str, before: Seen, after: Seen) -> None:
        """It holds nothing, unless another claim came and went between: then until its lease ends."""
        talk = self.talks[session]
        hashed = before.hashes[session]
        ended = {hashed.get("done", " ").split(" ")[1], *hashed.get("released", "").split()}
        if nonce not in ended | {talk.nonce} and self.rests(session, before):
            assert after.ahead(session, "retry_at")
            return
        if after.hashes[session].get("nonce") != nonce or talk.nonce == nonce:
            changing = EMPTIED if not talk.waiting else ("parked_told",)
            assert after.state(*HINTS, *changing) == before.state(*HINTS, *changing)
            talk.nonce = after.hashes[session].get("nonce", "")
            return
        assert nonce not in ended
        talk.nonce = nonce
        talk.fence, talk.claims, talk.attempts = talk.fence + 1, talk.claims + 1, talk.attempts + 1

    def late_release(self, session: str, nonce: str, before: Seen, after: Seen) -> None:
        """It changes nothing, unless a late claim holds the session for nobody under that very nonce."""
        talk = self.talks[session]
        if talk.nonce != nonce or before.hashes[session].get("released", "").startswith(nonce):
            assert after.state() == before.state()
            return
        talk.nonce, talk.attempts = "", int(after.hashes[session]["attempts"])
        talk.told = "parked_told" in after.hashes[session]
        assert after.state(*HINTS, "hashes") == before.state(*HINTS, "hashes")

    # What always holds

    @invariant()
    def all_is_as_promised(self) -> None:
        seen = self.see()
        assert sorted(seen.inbox.values()) == sorted(i for talk in self.talks.values() for i in talk.waiting)
        assert seen.dead == self.dead
        assert set(seen.due) == {session for session, talk in self.talks.items() if talk.waiting}
        assert set(seen.ready) <= set(seen.due)
        for session, talk in self.talks.items():
            fields = seen.hashes[session]
            assert [seen.inbox[stream_id] for stream_id in seen.waiting[session]] == talk.waiting
            assert seen.logs[session] == [_encode(entry) for entry in (*talk.log, *talk.journal)]
            assert int(fields.get("head", "0")) == len(talk.log)
            assert int(fields.get("tokens", "0")) == sum(entry.tokens for entry in talk.log)
            assert int(fields.get("start", "0")) == talk.start
            assert int(fields.get("tokens_start", "0")) == sum(entry.tokens for entry in talk.log[talk.start :])
            assert seen.notices[session] == talk.noticed
            assert int(fields.get("fence", "0")) == talk.fence
            assert int(fields.get("attempts", "0")) == talk.attempts
            assert int(fields.get("deaths", "0")) == talk.deaths
            assert fields.get("nonce", "") == talk.nonce
            assert seen.inbox.get(fields.get("stop_upto", ""), "") == talk.stop

    def teardown(self) -> None:
        """Let everything that was accepted be answered; nothing may be stuck."""
        if sys.exc_info()[0] is None:
            for session in SESSIONS:
                while self.talks[session].waiting:
                    self.do(self.lab.expire, session)
                    if self.see().ahead(session, "lease") or self.see().ahead(session, "retry_at"):
                        self.do(self.lab.expire, session)
                    self.answer(session)
            self.all_is_as_promised()
            for talk in self.talks.values():
                named = [message_id for entry in talk.log for message_id in (*entry.answers, *entry.dead)]
                assert len(set(named)) == len(named)
                assert talk.settled == talk.accepted
        super().teardown()

    def answer(self, session: str) -> None:
        talk = self.talks[session]
        rests = self.rests(session, self.see())
        claim = self.do(self.lab.sessions.claim, session)
        assert (claim is None) == rests
        if rests:
            return
        talk.fence, talk.claims, talk.attempts, talk.nonce = (
            claim.fence,
            talk.claims + 1,
            talk.attempts + 1,
            claim.nonce,
        )
        self.begin(session, claim)
        ids = tuple(entry.inbound.id for entry in claim.begun.waiting)
        added = (an_entry(claim.begun.head, answers=ids),)
        tokens = sum(entry.tokens for entry in (*talk.journal, *added))
        answered = tuple(entry.stream_id for entry in claim.begun.waiting)
        commit = Commit(entries=added, tokens=tokens, answered=answered)
        self.do(self.lab.sessions.commit, claim, commit, step=len(talk.journal), go_on=False)
        self.committed(session, ids, added)
        talk.nonce, talk.attempts = "", 0


WITHDRAWN = ("inbox", "waiting", "ready", "due", "attempts", "deaths", "retry_at")
WITHDRAWN += ("parked_at", "parked_why", "parked_told")
"""What taking a message back may change."""

STOPPED = ("stop_upto", "retry_at", "ready")  # fields and keys that stopping a turn may change

EMPTIED = ("nonce", "lease", "worker", "retry_at", "stop_upto")  # fields that a claim removes when nothing waits

QUICK = settings(
    max_examples=15, stateful_step_count=40, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
THOROUGH = settings(QUICK, max_examples=1_000, stateful_step_count=80)


@contextmanager
def machine(server_dir: Path, prefix: str) -> Iterator[type[SessionMachine]]:
    with one_loop() as loop:
        opened = open_bus(RedisConfig(prefix=prefix), server_dir)
        with loop.entered(opened) as bus:
            lab = Lab(bus, QUEUE)
            yield type("Machine", (SessionMachine,), {"loop": loop, "lab": lab})
            loop.call(check_and_remove_keys, bus)


def test_every_accepted_message_is_answered_once_and_in_order(server_dir: Path, prefix: str) -> None:
    with machine(server_dir, prefix) as found:
        run_state_machine_as_test(found, settings=QUICK)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(900)
def test_every_accepted_message_is_answered_once_and_in_order_however_long_it_goes_on(server_dir: Path, prefix: str):
    with machine(server_dir, prefix) as found:
        run_state_machine_as_test(found, settings=THOROUGH)

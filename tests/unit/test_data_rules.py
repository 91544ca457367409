"""Each rule of sessions, memories, keys and entries by itself: a break is told under its name, and nothing else is."""

import hashlib
from typing import Any

import msgspec

from daemon.bus import Keys
from daemon.bus.migrations import SCHEMA
from daemon.data.backup_records import Fields, ScopeTaken, SessionTaken
from daemon.data.data_check import flaws_of_entry, flaws_of_key
from daemon.data.key_names import KeyName
from daemon.data.scope_rules import flaws_of_scope
from daemon.data.session_rules import flaws_of_session
from daemon.events import Reply
from daemon.memory.memory_records import HistoryEntry, Note, Version
from tests.conftest import an_entry, an_inbound
from tests.tables import each_row

ANN, BOB = "web:ann", "web:bob"
TIME = "2026-11-20T09:00:00.000Z"
NOBODYS = SessionTaken(name=ANN)


def text(value: msgspec.Struct) -> str:
    return msgspec.json.encode(value).decode()


def said(turn: int, tokens: int) -> str:
    return text(an_entry(turn, tokens=tokens))


LOG = [said(2, 1), said(2, 10), said(4, 100), said(4, 1_000), said(6, 10_000), said(6, 100_000)]
"""Messages 2 to 7; 6 and 7 are the journal of the turn in progress."""

_POSITIONS = "begins=1 base=2 cursor=3 start=4 head=6 tokens=1110 tokens_start=1100"
_OTHERS = "scope=pond:workspace nonce=n lease=1795167733602 stop_upto=6-1"
FIELDS: Fields = dict(field.split("=") for field in f"{_POSITIONS} {_OTHERS}".split())


def waits(session: str = ANN, message: str | None = None) -> list[Any]:
    return [
        "session",
        session,
        "id",
        "m",
        "message",
        text(an_inbound("m", session=session)) if message is None else message,
    ]


SOUND = SessionTaken(
    name=ANN,
    fields=FIELDS,
    log=list(LOG),
    waiting=["5-1", "6-1"],
    inbox=[("5-1", waits()), ("6-1", waits()), ("7-1", waits())],
    asides=["7-1"],
    scores={"due": 1.0, "unsettled": 1.0},
)


def session(**changed: Any) -> SessionTaken:
    """The sound session with other fields of its own; ``fields`` are added, None removes one."""
    fields = {name: value for name, value in {**FIELDS, **changed.pop("fields", {})}.items() if value is not None}
    return msgspec.structs.replace(SOUND, fields=fields, **changed)


def fields(**changed: str | None) -> SessionTaken:
    return session(fields=changed)


BROKEN_SESSIONS: list[tuple[SessionTaken, list[str]]] = [
    (SOUND, []),
    (NOBODYS, []),
    (msgspec.structs.replace(NOBODYS, log=LOG), ["session.hash"]),
    (msgspec.structs.replace(NOBODYS, segments=["x"]), ["session.hash"]),
    (msgspec.structs.replace(NOBODYS, waiting=["1-1"]), ["session.hash"]),
    (msgspec.structs.replace(NOBODYS, scores={"due": 1.0}), ["session.hash"]),
    *((fields(**{name: "x"}), ["session.fields"]) for name in ("base", "begins", "cursor", "start", "head", "tokens")),
    *((fields(**{name: "-1"}), ["session.fields"]) for name in ("tokens_start", "fence", "claims", "attempts")),
    (fields(fence="1" * 16), ["session.fields"]),
    (fields(scope=None), ["session.scope"]),
    (fields(scope=""), ["session.scope"]),
    (fields(lease=None), ["session.lease"]),
    (fields(lease="soon"), ["session.lease"]),
    (fields(lease=None, nonce=None), []),
    (fields(begins="2"), []),
    (fields(begins="3"), ["session.positions"]),
    (fields(cursor="1", tokens="1111"), ["session.positions"]),
    (fields(cursor="2", tokens="1111"), []),
    (fields(cursor="7", start="7", tokens="0", tokens_start="0"), ["session.positions", "session.positions"]),
    (fields(start="6", tokens_start="0"), []),
    (fields(start="7", tokens_start="0"), ["session.positions"]),
    (fields(start="3", tokens_start="1110"), []),
    (fields(start="2", tokens_start="1111"), ["session.positions"]),
    (session(log=LOG[:4]), []),
    (session(log=LOG[:3]), ["session.log"]),
    (session(log=[*LOG[:2], "{", *LOG[3:]]), ["log.message"]),
    (session(log=[*LOG[:2], said(5, 100), *LOG[3:]]), ["log.turn", "log.turn"]),
    (session(log=[*LOG[:3], said(3, 1_000), *LOG[4:]]), ["log.turn"]),
    (session(log=[LOG[0], said(3, 10), said(3, 100), *LOG[3:]]), []),
    *((fields(tokens=str(1110 + off)), ["session.tokens"]) for off in (-10, -1, 1, 10_000, 110_000)),
    *((fields(tokens_start=str(1100 + off)), ["session.tokens"]) for off in (-100, 10, 10_000)),
    (session(waiting=["5-1", "6-1", "5-1"]), ["waiting.once"]),
    (session(waiting=["5-1", "6-1", "8-1"]), ["waiting.in"]),
    (session(inbox=[("5-1", waits()), ("6-1", waits(BOB)), ("7-1", waits())]), ["waiting.in"]),
    (session(waiting=["5-1"]), ["waiting.stop"]),
    (fields(stop_upto="6-2"), ["waiting.stop"]),
    (fields(stop_upto=""), []),
    (session(scores={"unsettled": 1.0}), ["waiting.due"]),
    (session(waiting=[], fields={"stop_upto": None}), []),
    (session(waiting=[], asides=[], fields={"stop_upto": None}), ["due.waiting"]),
    (session(waiting=[], asides=[], fields={"stop_upto": None}, scores={"unsettled": 1.0}), []),
    (session(asides=["7-1", "8-1"]), ["asides.in"]),
    (session(asides=["x"], inbox=[*SOUND.inbox, ("x", waits())]), ["asides.in"]),
    (session(inbox=[*SOUND.inbox[:2], ("7-1", waits(message="{"))]), ["in.message"]),
    (session(scores={"due": 1.0}), ["session.unsettled"]),
    (session(scores={"due": 1.0}, lock={"nonce": "n"}), []),
    (session(scores={"due": 1.0}, fields={"start": "3", "tokens_start": "1110"}), []),
]


@each_row("taken, rules", BROKEN_SESSIONS)
def test_each_rule_of_a_session_is_looked_at(taken: SessionTaken, rules: list[str]) -> None:
    assert [flaw.rule for flaw in flaws_of_session(taken)] == rules


def version(number: int, reads: str) -> str:
    return text(Version(version=number, kind="edit", time=TIME, text=reads))


def entry(upto: int, *, of: str = ANN, lost: bool = False) -> str:
    return text(HistoryEntry(time=TIME, session=of, first=0, upto=upto, kind="summary", text="x", lost=lost))


def sha1(reads: str) -> str:
    return hashlib.sha1(reads.encode()).hexdigest()


_MEMORY = f"version=4 versions_base=2 text=four checksum={sha1('four')} history_base=5 upto:{ANN}=8 upto:{BOB}=3"
MEMORY: Fields = dict(field.split("=") for field in _MEMORY.split())
SOUND_SCOPE = ScopeTaken(
    name="pond:workspace",
    fields=MEMORY,
    versions=[version(3, "three"), version(4, "four"), version(5, "rejected")],
    history=[entry(4), entry(3, of=BOB), entry(8)],
    notes=[text(Note(time=TIME, date="2026-11-20", session=ANN, cycle=0, text="x"))],
    undigested=["5", "7"],
)


def scope(**changed: Any) -> ScopeTaken:
    return msgspec.structs.replace(SOUND_SCOPE, fields={**MEMORY, **changed.pop("fields", {})}, **changed)


def memory(**changed: str) -> ScopeTaken:
    return scope(fields=changed)


BROKEN_SCOPES: list[tuple[ScopeTaken, list[str]]] = [
    (SOUND_SCOPE, []),
    (ScopeTaken(name="pond:workspace"), []),
    (scope(versions=["{", *SOUND_SCOPE.versions[1:]]), ["memory.versions"]),
    (scope(versions=[version(2, "three"), *SOUND_SCOPE.versions[1:]]), ["memory.versions"]),
    (scope(versions=SOUND_SCOPE.versions[:1]), ["memory.versions"]),
    (scope(versions=SOUND_SCOPE.versions[:2]), []),
    (memory(text="five", checksum=sha1("five")), ["memory.text"]),
    (memory(checksum=sha1("five")), ["memory.checksum"]),
    (scope(history=[entry(4), "{"]), ["memory.history", "memory.undigested"]),
    (scope(history=[entry(4), entry(3, of=BOB), entry(7)]), ["memory.upto"]),
    (scope(history=[entry(9), entry(3, of=BOB), entry(8)]), ["memory.upto"]),
    (scope(history=[entry(8), entry(3, of=BOB), entry(4)]), []),
    (scope(history=[entry(8), entry(3, of=BOB), entry(9, lost=True)]), []),
    (scope(history=[entry(8), entry(3, of=BOB), entry(9, of="")]), []),
    (memory(**{f"upto:{ANN}": "0"}), ["memory.upto"]),
    *((memory(**{f"upto:{ANN}": "1", field: "x"}), []) for field in ("joined", "joining", "receiving", "leaving")),
    (memory(**{f"upto:{ANN}": "1", "links:pond:x": "x"}), []),
    (scope(notes=["{"]), ["memory.notes"]),
    (scope(undigested=["4"]), ["memory.undigested"]),
    (scope(undigested=["8"]), ["memory.undigested"]),
    (scope(undigested=["x"]), ["memory.undigested"]),
    (scope(undigested=["5", "5"]), ["memory.undigested"]),
]


@each_row("taken, rules", BROKEN_SCOPES)
def test_each_rule_of_a_memory_is_looked_at(taken: ScopeTaken, rules: list[str]) -> None:
    assert [flaw.rule for flaw in flaws_of_scope(taken)] == rules


class Stored:
    def __init__(self, kind: str) -> None:
        self.keys = Keys(prefix="mp", partitions=4)
        self.schema = SCHEMA
        self._answers: dict[str, Any] = {"TYPE": kind.encode(), "PTTL": -1}

    async def call(self, command: str, _key: str) -> Any:
        return self._answers[command]


ANNS = Keys(prefix="mp", partitions=4).partition(ANN)


@each_row(
    "name, kind, rules",
    [
        (KeyName(kind="log", partition=ANNS, rest=ANN), "list", []),
        (KeyName(kind="log", partition=ANNS, rest=ANN), "none", []),
        (KeyName(kind="log", partition=(ANNS + 1) % 4, rest=ANN), "list", ["key.partition"]),
        (KeyName(kind="in", partition=3, rest=""), "stream", []),
        (KeyName(kind="in", partition=4, rest=""), "stream", ["key.partition"]),
        (KeyName(kind="log", partition=ANNS, rest=ANN), "hash", ["key.type"]),
        (KeyName(kind="mine", partition=None, rest=""), "string", ["key.known"]),
        (KeyName(kind="log", partition=None, rest=ANN), "list", ["key.known"]),
        (KeyName(kind="seen", partition=ANNS, rest=f"{ANN}:m"), "string", ["key.ttl"]),
        (KeyName(kind="login", partition=None, rest="x"), "string", ["key.ttl"]),
    ],
)
async def test_each_rule_of_a_key_is_looked_at(name: KeyName, kind: str, rules: list[str]) -> None:
    bus: Any = Stored(kind)

    assert [flaw.rule for flaw in await flaws_of_key(bus, name)] == rules


IN, OUT, DEAD = (KeyName(kind=kind, partition=0, rest="") for kind in ("in", "out", "dead"))
REPLY = text(Reply(id="r", session=ANN, turn=0, text="x", correlation="c"))


@each_row(
    "name, words, rules",
    [
        (IN, ["session", ANN, "id", "m", "message", "x"], []), (IN, ["id", "m", "message", "x"], ["in.entry"]),
        (IN, ["session", ANN, "message", "x"], ["in.entry"]), (IN, ["session", ANN, "id", "m"], ["in.entry"]),
        (DEAD, ["session", ANN, "id", "m", "reason", "x"], []), (DEAD, ["id", "m", "reason", "x"], ["dead.entry"]),
        (DEAD, ["session", ANN, "reason", "x"], ["dead.entry"]), (DEAD, ["session", ANN, "id", "m"], ["dead.entry"]),
        (OUT, ["reply", REPLY], []), (OUT, ["reply", "{}"], ["out.entry"]), (OUT, [], ["out.entry"]),
    ],
)  # fmt: skip
def test_each_field_of_an_entry_is_looked_at(name: KeyName, words: list[Any], rules: list[str]) -> None:
    assert [flaw.rule for flaw in flaws_of_entry(name, "1-1", words)] == rules

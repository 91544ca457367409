"""A look at every rule on live data, which disturbs nobody: sessions and scopes are read in one step each.

What several keys in different slots must agree about is looked at twice, for in between they need not.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec

from daemon.archive import Archive
from daemon.bus import Bus, load_script
from daemon.bus.migrations import SCHEMA
from daemon.concurrency import at_once
from daemon.data.backup_records import ScopeTaken, SessionTaken
from daemon.data.flaw import Flaw, Mend
from daemon.data.key_names import SCOPE, TTL_S, KeyName, key_of
from daemon.data.redis_reader import all_names, read_scope, read_session, read_stream, wrong_type
from daemon.data.scope_rules import CrossSlotRules, flaws_of_scope
from daemon.data.session_rules import flaws_of_session
from daemon.data.snapshot import ALONE, pairs_of
from daemon.data.storage_rules import flaws_of_archive, flaws_of_files, flaws_of_marker
from daemon.errors import UNREADABLE, BusError, BusUnavailable, DamagedData
from daemon.events import Reply

# Mending what a look at the data found; each script looks again before it changes anything.

SESSION = load_script(__file__, "mend.lua")
MEND_SCOPE = load_script(__file__, "mend_scope.lua")
KEY = load_script(__file__, "mend_key.lua")

OF_SCOPES = frozenset({"text", "checksum", "undigested"})


async def mend(bus: Bus, wanted: Mend) -> bool:
    """Whether something was changed: what has become right by itself was not.

    Raises:
        BusUnavailable: Redis is away; the same call may be made again.
    """
    keys = bus.keys
    if wanted.key:
        status = await bus.run(KEY, [wanted.key], [wanted.action, *wanted.args])
    elif wanted.action in OF_SCOPES:
        named = [keys.memory(wanted.owner), keys.versions(wanted.owner), keys.undigested(wanted.owner)]
        status = await bus.run(MEND_SCOPE, named, [wanted.action, *wanted.args])
    else:
        status = await bus.run(SESSION, _of_session(bus, wanted.owner), [wanted.action, wanted.owner, *wanted.args])
    return bool(status == b"mended")


async def is_stray(bus: Bus, session: str, stream_id: str) -> bool:
    """Whether a message stands in ``in``, and neither waits in its session nor is to be answered aside."""
    return bool(await bus.run(SESSION, _of_session(bus, session), ["stray", session, stream_id, "look"]) == b"mended")


def _of_session(bus: Bus, session: str) -> list[str]:
    own = bus.keys.of(session)
    named = [own.session, own.waiting, own.inbox, own.ready, own.due, own.unsettled, own.asides, own.log]
    return [*named, bus.keys.reminders(session), bus.keys.upcoming(bus.keys.partition(session))]


WAITS_S = 6.0
"""How long until what may be about to become right is looked at again: above ``queue.wakeup_s``."""

PASSING = frozenset({"due.waiting"})
"""Rules of a session that are broken for a moment now and then: a claim that finds nothing to do mends it."""

FIRST = frozenset({"session.fields", "session.log"})
"""Rules of a session without which others cannot be looked at."""


class DataReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a look found."""

    flaws: tuple[Flaw, ...]
    """What is wrong, and was not mended."""
    mended: tuple[Flaw, ...]
    """What was."""
    sessions: int
    scopes: int
    messages: int
    """Held by Redis."""
    keys: int


class DataCheck:
    """One look at a database."""

    def __init__(
        self,
        bus: Bus,
        archive: Archive | None,
        *,
        deep: bool = False,
        repairs: bool = False,
        waits_s: float = WAITS_S,
        workspace_of: Callable[[str], Path] | None = None,
    ) -> None:
        """Nothing is looked at yet.

        Args:
            bus: of the database.
            archive: where its archived parts are looked for; None: they are not.
            deep: whether each of its files is read and compared.
            repairs: whether what can be mended is.
            waits_s: how long until what may be about to become right is looked at again.
            workspace_of: folder of a bot's files; None: no files are looked at.
        """
        self._bus = bus
        self._archive = archive
        self._deep = deep
        self._repairs = repairs
        self._waits_s = waits_s
        self._workspace_of = workspace_of
        self._across = CrossSlotRules()
        self._flaws: list[Flaw] = []
        self._mended: list[Flaw] = []
        self._later: set[str] = set()
        self._damaged: dict[str, str] = {}
        """Sessions that cannot be read, and why."""
        self._messages = 0
        self._keys = 0
        self._names: dict[str, set[str]] = {}
        """Sessions and scopes."""
        self._queues: set[KeyName] = set()

    async def run(self) -> DataReport:
        """Look at everything.

        Raises:
            BusUnavailable: Redis is away.
        """
        await self._all_keys()
        if self._archive is not None:
            await self._found(await flaws_of_marker(self._bus, self._archive.storage))
        sessions, scopes = sorted(self._names.get("session", ())), sorted(self._names.get("scope", ()))
        await at_once(sessions, self._session)
        await at_once(scopes, self._scope)
        await self._streams()
        await self._database()
        return DataReport(
            flaws=tuple(self._flaws),
            mended=tuple(self._mended),
            sessions=len(sessions),
            scopes=len(scopes),
            messages=self._messages,
            keys=self._keys,
        )

    async def _found(self, flaws: Iterable[Flaw]) -> None:
        for flaw in flaws:
            if self._repairs and flaw.mend is not None and await self._mended_now(flaw.mend):
                self._mended.append(flaw)
            else:
                self._flaws.append(flaw)

    async def _mended_now(self, wanted: Mend) -> bool:
        try:
            return await mend(self._bus, wanted)
        except BusUnavailable:
            raise
        except BusError:
            return False  # a key that the repair needs has the wrong type: `key.type` reports the key

    async def _read(self, session: str) -> SessionTaken | None:
        """A session; None if a key of the session is damaged, which `key.type` reports."""
        try:
            return await read_session(self._bus, session)
        except DamagedData as error:
            self._damaged.setdefault(session, str(error))
            return None

    async def _all_keys(self) -> None:
        seen = set[KeyName]()
        async for names in all_names(self._bus):
            new = [name for name in names if name not in seen]
            seen |= set(new)
            for name in new:
                if name.kind in ALONE and name.partition is not None:
                    self._names.setdefault("session", set()).add(name.owner)
                elif name.kind in SCOPE and name.partition is not None:
                    self._names.setdefault("scope", set()).add(name.owner)
                elif name.place == "queue":
                    self._queues.add(name)
            found = await at_once(new, lambda name: flaws_of_key(self._bus, name))
            await self._found([flaw for flaws in found for flaw in flaws])
        self._keys = len(seen)

    async def _session(self, name: str) -> None:
        taken = await self._read(name)
        if taken is None:
            return
        if not (taken.fields or taken.log or taken.waiting or taken.segments or taken.scores):
            return  # a lock alone, or forgotten meanwhile
        self._messages += len(taken.log) + len(taken.waiting)
        self._across.note_session(taken)
        flaws = flaws_of_session(taken)
        if any(flaw.rule in PASSING for flaw in flaws):
            self._later.add(name)
        mended = len(self._mended)
        await self._found(flaw for flaw in flaws if flaw.rule not in PASSING)
        if len(self._mended) > mended and any(flaw.rule in FIRST for flaw in flaws):
            await self._session(name)  # what could not be looked at before
            return
        await self._archived(taken)

    async def _scope(self, name: str) -> None:
        try:
            taken = await read_scope(self._bus, name)
        except DamagedData:
            return  # `key.type` reports the key
        self._across.note_scope(taken)
        await self._found(flaws_of_scope(taken))
        await self._archived(taken)
        if self._workspace_of is not None:
            await self._found(await flaws_of_files(taken, self._workspace_of))

    async def _archived(self, taken: SessionTaken | ScopeTaken) -> None:
        if self._archive is not None:
            await self._found(await flaws_of_archive(self._archive, taken, deep=self._deep))

    async def _streams(self) -> None:
        """What stands in the streams, and whose it is."""
        for name in sorted(self._queues, key=lambda name: (name.kind, name.partition, name.rest)):
            if name.kind not in ("in", "out", "dead"):
                await self._found(await self._members(name))
                continue
            try:
                async for piece in read_stream(self._bus, key_of(self._bus.keys.prefix, name), name):
                    for stream_id, words in piece.entries:
                        await self._found(flaws_of_entry(name, stream_id, words))
                        session = self._across.stray_in(name, stream_id, words)
                        if session in self._damaged:
                            continue
                        if session and await is_stray(self._bus, session, stream_id):
                            await self._found([self._across.stray(session, stream_id)])
            except BusUnavailable:
                raise
            except BusError:
                continue

    async def _members(self, name: KeyName) -> list[Flaw]:
        """Sessions that have deadlines, and do not exist."""
        if name.kind not in ("ready", "due", "unsettled"):
            return []
        found: list[Flaw] = []
        try:
            members = await self._bus.call("ZRANGE", key_of(self._bus.keys.prefix, name), 0, -1)
        except BusUnavailable:
            raise
        except BusError:
            return []
        for member in members:
            session = member.decode("utf-8", "replace")
            if not self._across.knows(session) and session not in self._damaged:
                # It may have been made since; of one that was not nothing but this is there.
                taken = await self._read(session)
                found += flaws_of_session(taken) if taken and not taken.fields else []
        return found

    async def _database(self) -> None:
        """What several slots must agree about."""
        suspects = await self._across.flaws(self._bus)
        if suspects or self._later:
            await anyio.sleep(self._waits_s)
            for session in sorted(self._later):
                taken = await self._read(session)
                flaws = flaws_of_session(taken) if taken else []
                await self._found(flaw for flaw in flaws if flaw.rule in PASSING)
            for session in {flaw.where for flaw in suspects} & self._names.get("session", set()):
                if taken := await self._read(session):
                    self._across.note_session(taken)
            for scope in sorted(self._across.scopes_of(suspects)):
                with suppress(DamagedData):
                    self._across.note_scope(await read_scope(self._bus, scope))
            again = await self._across.flaws(self._bus)
            await self._found(
                [flaw for flaw in again if (flaw.rule, flaw.where) in {(s.rule, s.where) for s in suspects}]
            )


# Rules for every key: Millpond uses such keys, partition, type, and expiry.

WORDS = {"in": frozenset({"session", "id", "message"}), "dead": frozenset({"session", "id", "reason"})}
"""Fields of the entries of streams that scripts count on."""

_decode_reply = msgspec.json.Decoder(Reply).decode


async def flaws_of_key(bus: Bus, name: KeyName) -> list[Flaw]:
    """Every rule that a single key breaks."""
    key = key_of(bus.keys.prefix, name)
    if not name.is_known and bus.schema > SCHEMA:
        return []  # a newer version knows what it is
    if not name.is_known:
        text = "Millpond does not use this key. Find out which program wrote the key, and then delete the key."
        return [Flaw(rule="key.known", where=key, text=text)]
    found: list[Flaw] = []
    if name.owner and name.partition != (right := bus.keys.partition(name.owner)):
        text = (
            f"the key belongs to partition {right}, so Millpond does not find it in this partition. Restore a backup."
        )
        found.append(Flaw(rule="key.partition", where=key, text=text))
    elif name.partition is not None and name.partition >= bus.keys.partitions:
        text = f"the database has only {bus.keys.partitions} partitions, so this key is never read. Delete the key."
        found.append(Flaw(rule="key.partition", where=key, text=text))
    if wrong := await wrong_type(bus, key):
        owner = f" ({'memory' if name.place == 'scope' else name.place} {name.owner})" if name.owner else ""
        text = f"{wrong}{owner}. Restore the key from a backup, or delete it."
        found.append(Flaw(rule="key.type", where=key, text=text))
    if name.kind in TTL_S and await bus.call("PTTL", key) == -1:
        mend = Mend(what="set the expiry time", action="ttl", key=key, args=(round(TTL_S[name.kind] * 1000),))
        found.append(Flaw(rule="key.ttl", where=key, text="the key has no expiry time", mend=mend))
    return found


def flaws_of_entry(name: KeyName, stream_id: str, words: list[Any]) -> list[Flaw]:
    """Every rule that a single entry of a stream breaks."""
    fields, where = pairs_of(words), f"{name.kind}{':' if name.rest else ''}{name.rest} {stream_id}"
    try:
        if name.kind == "out":
            _decode_reply(fields.get("reply", b""))
        elif not WORDS.get(name.kind, frozenset()) <= fields.keys():
            raise msgspec.DecodeError("a field is missing")
    except UNREADABLE as error:
        text = f"the entry cannot be read: {error}"
        return [Flaw(rule=f"{name.kind}.entry", where=where, text=text)]
    return []

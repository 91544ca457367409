"""Rules for every key: Millpond uses such keys, partition, type, and expiry."""

from typing import Any

import msgspec

from daemon.bus import Bus
from daemon.bus.migrations import SCHEMA
from daemon.data.flaw import Flaw, Mend
from daemon.data.key_names import TTL_S, KeyName, key_of
from daemon.data.redis_reader import wrong_type
from daemon.data.snapshot import pairs_of
from daemon.errors import UNREADABLE
from daemon.events import Reply

WORDS = {"in": frozenset({"session", "id", "message"}), "dead": frozenset({"session", "id", "reason"})}
"""Fields of the entries of streams that scripts count on."""

_decode_reply = msgspec.json.Decoder(Reply).decode


async def flaws_of_key(bus: Bus, name: KeyName) -> list[Flaw]:
    """Every rule that a single key breaks."""
    key = key_of(bus.keys.prefix, name)
    if not name.is_known and bus.schema > SCHEMA:
        return []  # a newer version knows what it is
    if not name.is_known:
        text = "Millpond does not use this key. Find out which program wrote the key, and delete the key."
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
        text = f"{wrong}{owner}. Restore the key from a backup, or delete the key."
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

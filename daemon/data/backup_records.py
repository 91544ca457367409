"""The lines of a backup's ``redis.jsonl.gz``, and its ``backup.json``.

Names of keys are kept without prefix and partition, so that a backup can be restored under others.
"""

import base64
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import msgspec

from daemon.bus import pairs

FORMAT = 2
"""Of the folder; a higher one is refused. Since 2, the log of a long session stands in records of its own."""


class Bytes(msgspec.Struct, frozen=True, kw_only=True):
    """A value that is no text."""

    base64: str


Text: TypeAlias = str | Bytes
"""A stored value: as it reads in ``redis-cli`` wherever it can be read."""

Fields: TypeAlias = dict[str, Text]
Entries: TypeAlias = list[tuple[str, list[Text]]]
"""Of a stream: ids, each with its fields and values in turn."""


class SessionTaken(msgspec.Struct, frozen=True, kw_only=True, tag="session", omit_defaults=True):
    """All that is one session's and has no TTL, as it stood at one moment."""

    name: str
    fields: Fields = {}
    log: list[Text] = []
    """From ``log_first`` on; from the index ``base`` of ``fields`` on if it is 0."""
    log_first: int = 0
    """Index in the log. The messages between ``base`` and this one stand in the ``LogTaken`` before this record."""
    waiting: list[str] = []
    inbox: Entries = []
    """What stands in ``in`` of ``waiting`` and ``asides``."""
    asides: list[str] = []
    lock: Fields = {}
    segments: list[Text] = []
    scores: dict[str, float] = {}
    """Where it stands in ``ready``, ``due`` and ``unsettled``."""
    reminders: Fields = {}
    upcoming: dict[str, float] = {}
    """When each of them fires (ms), of those that are not paused."""
    out_upto: str = ""
    """Stream id of the newest entry in its channel's ``out`` at that moment; what came later belongs to a later one."""
    dead_upto: str = ""
    taken: int = 0
    """How often it was read before, in this backup: the highest counts."""

    @property
    def base(self) -> int:
        """Index of the first message that Redis holds."""
        return number(self.fields.get("base"))

    @property
    def count(self) -> int:
        """Messages that Redis holds, with those in ``LogTaken``."""
        return len(self.log) + (self.log_first - self.base if self.log_first else 0)


class LogTaken(msgspec.Struct, frozen=True, kw_only=True, tag="log", omit_defaults=True):
    """Messages of a long log. Those before the ``base`` of the ``SessionTaken`` behind it do not count."""

    name: str
    """The session."""
    first: int
    """Index of the first of them."""
    log: list[Text]
    taken: int = 0
    """As of the session."""

    def since(self, base: int) -> list[Text]:
        """The messages from the index ``base`` on."""
        return self.log[max(0, base - self.first) :]


class ScopeTaken(msgspec.Struct, frozen=True, kw_only=True, tag="scope", omit_defaults=True):
    """All that a scope remembers, as it stood at one moment."""

    name: str
    fields: Fields = {}
    history: list[Text] = []
    versions: list[Text] = []
    notes: list[Text] = []
    undigested: list[Text] = []
    shelved: list[Text] = []


class StreamTaken(msgspec.Struct, frozen=True, kw_only=True, tag="stream"):
    """A piece of a stream of a partition."""

    kind: str
    rest: str
    """The channel, of ``out``; else empty."""
    partition: int
    entries: Entries


class KeyTaken(msgspec.Struct, frozen=True, kw_only=True, tag="key", omit_defaults=True):
    """Any other key."""

    kind: str
    rest: str = ""
    partition: int | None = None
    form: str
    """What Redis calls its type."""
    value: Any
    """Of a string a text, of a hash texts by field, of a list texts, of a sorted set scores by member, of a stream
    its entries."""
    expires_ms: int = 0
    """When it ends, ms since 1970; 0: never."""


Taken: TypeAlias = SessionTaken | LogTaken | ScopeTaken | StreamTaken | KeyTaken


class FileTaken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of ``files.jsonl``."""

    path: str
    """Below the backup's folder, with ``/``. Bytes of a name that are not UTF-8 are written as ``%XX``."""
    bytes: int
    sha256: str
    original: str = ""
    """The path with its original bytes, base64; empty if it equals ``path``."""

    @property
    def restored_path(self) -> str:
        """The path under which the file is restored, as ``os.fsdecode`` gives it."""
        return os.fsdecode(base64.b64decode(self.original)) if self.original else self.path


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """Archived or stored records of one owner that a backup does not contain, because they were not found."""

    owner: str
    """Session or memory."""
    kind: str
    """``messages``, or the part of a memory: ``history``, ``versions``, ``notes``."""
    count: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """``backup.json``, which is written last: without it a folder is no backup."""

    format: int = FORMAT
    id: str
    millpond: str
    """Version that wrote it."""
    schema: int
    partitions: int
    prefix: str
    began: str
    ended: str
    """ISO 8601, UTC."""
    sessions: int
    scopes: int
    records: int
    """Lines of ``redis.jsonl.gz``."""
    messages: int
    """Of all logs, and those that wait."""
    files: int
    file_bytes: int
    retaken: dict[str, int]
    """Sessions that stand in it more than once, and which of them counts."""
    bots: list[str]
    """Whose workspaces are in it."""
    archive: str
    """Where the archive was."""
    with_config: bool
    """Whether the configuration and its secrets are in it."""
    sha256: dict[str, str]
    """Of ``redis.jsonl.gz`` and ``files.jsonl``."""
    losses: list[Loss] = []
    """Records that were not found."""
    damaged: dict[str, str] = {}
    """Sessions, memories, keys and files that could not be read, and why."""
    left_out: list[str] = []
    """Sessions and memories that the operator left out."""


encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Taken).decode
decode_file = msgspec.json.Decoder(FileTaken).decode
decode_manifest = msgspec.json.Decoder(Manifest).decode


def number(value: Any, otherwise: int = 0) -> int:
    """The number in a field; ``otherwise`` when it is not there, or no number."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return otherwise


def text_of(value: bytes) -> Text:
    """A stored value as it stands in a backup."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return Bytes(base64=base64.b64encode(value).decode())


def bytes_of(text: Any) -> bytes:
    """The stored value of a text; one that was decoded without its type too."""
    if isinstance(text, str):
        return text.encode()
    return base64.b64decode(text.base64 if isinstance(text, Bytes) else text["base64"])


def texts_of(values: Sequence[bytes]) -> list[Text]:
    """Stored values as they stand in a backup."""
    return [text_of(value) for value in values]


def name_text(value: bytes) -> str:
    """A field's or member's name; what is no text keeps its bytes by escapes that JSON can carry."""
    with suppress(UnicodeDecodeError):
        if not value.startswith(b"\0"):
            return value.decode()
    return "\0" + base64.b64encode(value).decode()


def name_bytes(text: str) -> bytes:
    """The field or member of a name."""
    return base64.b64decode(text[1:]) if text.startswith("\0") else text.encode()


def fields_of(flat: Sequence[bytes]) -> Fields:
    """A hash, as a script gives it, by its fields; sorted, so that the same hash always reads the same."""
    return {name: text_of(value) for name, value in sorted(zip(map(name_text, flat[::2]), flat[1::2], strict=True))}


def entries_of(found: Sequence[Any]) -> Entries:
    """Entries of a stream, as a script gives them, or a command."""
    return [
        (stream_id.decode(), texts_of([word for pair in pairs(words) for word in pair])) for stream_id, words in found
    ]

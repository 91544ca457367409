"""What an export consists of, read from where it lies and written piece by piece."""

import datetime as dt
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from daemon.archive.segment import lines_of
from daemon.bus import Bus, DeadLetters, pairs
from daemon.clock import Clock, stamp
from daemon.errors import UNREADABLE, ConfigError
from daemon.export.export_subject import ExportSubject
from daemon.export.zip_writer import Names, ZipWriter, files_below, names_of, pieces_of
from daemon.memory import Memories
from daemon.memory.memory_files import bot_of
from daemon.memory.scope_lists import Kind
from daemon.scope import folder_of
from daemon.transcripts import Transcripts
from daemon.usage import UsageBook
from daemon.usage.usage_book import KEPT_S
from daemon.wording import Language

# README.txt of an export: a description of its files, in the languages of bots.

_TEXT: Mapping[Language, str] = {
    "en": """\
This file contains everything that Millpond has stored about:
{scopes}
Created on {time} (UTC).

memory/<scope>/MEMORY.md       the bot's current memory, which is part of every prompt
memory/<scope>/HISTORY.md      past events, one paragraph for each consolidated part of a conversation
memory/<scope>/history.jsonl   all history entries with all of their fields, one JSON object per line
memory/<scope>/versions.jsonl  every version of MEMORY.md, with its origin
memory/<scope>/notes.jsonl     daily notes
transcripts/<session>.jsonl    all messages of a conversation from the first to the last, one per line
sessions/<session>.json        state of a conversation, with its unanswered messages, reminders and command replies
groups/<session>.jsonl         the person's messages in groups, if an administrator exported all data of a person
files/<scope>/                 files that the bot created for you, and long tool results
usage.jsonl                    usage by day: messages, model calls, tokens, costs
dead.jsonl                     messages that could not be answered, and replies that could not be delivered
contents.json                  list of scopes and conversations, and of parts that could not be read

The export does not contain empty parts.
contents.json lists which memory or conversation each file belongs to.
Backups, and data that chat platforms and model providers store themselves, are not included.
""",
    "zh": """\
这个文件包含 Millpond 保存的以下对象的全部内容：
{scopes}
导出时间：{time}（UTC）。

memory/<scope>/MEMORY.md       机器人当前的记忆，每次提示词中都有
memory/<scope>/HISTORY.md      发生过的事，每一段整理过的对话对应一个段落
memory/<scope>/history.jsonl   同样的条目及其全部字段，每行一个 JSON 对象
memory/<scope>/versions.jsonl  MEMORY.md 的每一个版本及其来源
memory/<scope>/notes.jsonl     每日笔记
transcripts/<session>.jsonl    一个对话从第一条到最后一条的全部消息，每行一条
sessions/<session>.json        对话的状态、待回答的消息、提醒、最近对命令的直接回复
groups/<session>.jsonl         这个人在群里的消息（仅当管理员导出一个人的全部数据时）
files/<scope>/                 机器人为你写的文件，以及较长的工具结果
usage.jsonl                    每天的用量：消息、模型调用、token、费用
dead.jsonl                     未能回答的消息，以及未能送达的回复
contents.json                  记忆和对话的列表，以及无法读取的部分

没有内容的部分会省略。contents.json 说明每个名字对应哪份记忆或哪个对话。不包含备份，也不包含渠道和模型自己保存的数据。
""",
}


def about(language: Language, *, scopes: Sequence[str], time: str) -> str:
    """The text. Pure."""
    return _TEXT[language].format(scopes="\n".join(f"  {scope}" for scope in scopes), time=time)


EXPORTS = "exports"
"""Folder of a scope's own files in which its export is left; it is in no export itself."""

KINDS: tuple[Kind, ...] = ("history", "versions", "notes")

DAY_S = 86_400

_encode = msgspec.json.Encoder().encode


class Sources(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything lies."""

    bus: Bus
    memories: Memories
    transcripts: Transcripts
    dead: DeadLetters
    workspace_of: Callable[[str], Path]
    """Gives the folder of a bot by its name, or raises ConfigError."""
    clock: Clock
    currencies: Sequence[str] = ()
    """Of the costs that are told."""


@dataclass(kw_only=True)
class ExportResult:
    """What was written."""

    scopes: dict[str, str]
    """Each with the name of its folders."""
    sessions: dict[str, str]
    """Each with the name of its files."""
    groups: dict[str, str]
    """Those in which a person said something, each with the name of its file."""
    messages: int = 0
    files: int = 0
    missing: list[str] = field(default_factory=list[str])
    """What could not be read, and why, a sentence each."""


async def export(
    sources: Sources, subject: ExportSubject, package: ZipWriter, *, language: Language = "en"
) -> ExportResult:
    """Write everything of ``subject`` into ``package``, and close it.

    What cannot be read is left out, and said in ``contents.json``: an export that is not whole is better than none.

    Raises:
        BusUnavailable: Redis is away.
        OSError: the package cannot be written.
    """
    try:
        return await _Writing(sources, subject, package).whole(language)
    except BaseException:
        package.abandon()
        raise


class _Writing:
    """One export."""

    def __init__(self, sources: Sources, subject: ExportSubject, package: ZipWriter) -> None:
        self._sources = sources
        self._subject = subject
        self._package = package
        sessions = names_of([session for session, _ in subject.sessions])
        self._done = ExportResult(scopes=names_of(subject.scopes), sessions=sessions, groups={})

    async def whole(self, language: Language) -> ExportResult:
        time = stamp(self._sources.clock.now())
        await self._package.add_text("README.txt", about(language, scopes=self._subject.scopes, time=time))
        for scope in self._subject.scopes:
            await self._memory(scope)
            await self._files(scope)
        for session, _ in self._subject.sessions:
            await self._transcript(session)
            await self._session(session)
        for session, name in names_of([session for session, _ in self._subject.groups]).items():
            if await self._package.add(f"groups/{name}.jsonl", self._own_lines(session)):
                self._done.groups[session] = name
        await self._package.add("usage.jsonl", self._usage())
        await self._package.add("dead.jsonl", self._dead())
        contents = msgspec.json.format(_encode({"time": time, **msgspec.to_builtins(self._done)}), indent=2)
        await self._package.add_text("contents.json", contents.decode())
        await self._package.close()
        return self._done

    # Memory

    async def _memory(self, scope: str) -> None:
        folder, memories = f"memory/{self._done.scopes[scope]}", self._sources.memories
        await self._package.add_text(f"{folder}/MEMORY.md", (await memories.current(scope)).text)
        await self._package.add(f"{folder}/HISTORY.md", self._texts(scope))
        for kind in KINDS:
            await self._package.add(f"{folder}/{kind}.jsonl", self._records(kind, scope))

    async def _texts(self, scope: str) -> AsyncGenerator[bytes]:
        # What cannot be read is said of history.jsonl, which holds the same.
        async with aclosing(self._sources.memories.records("history", scope, missing=[])) as pieces:
            async for records in pieces:
                for entry in map(_decode_text, records):
                    yield f"{entry.text.strip(_LINE_END)}\n\n".encode("utf-8", "replace")

    async def _records(self, kind: Kind, scope: str) -> AsyncGenerator[bytes]:
        missing = self._done.missing
        async with aclosing(self._sources.memories.records(kind, scope, missing=missing)) as pieces:
            async for records in pieces:
                yield lines_of(records)

    # Files

    async def _files(self, scope: str) -> None:
        try:
            root = self._sources.workspace_of(bot_of(scope))
        except ConfigError as error:
            self._done.missing.append(f"files of {scope}: {error}")
            return
        place = ("files", folder_of(scope))
        try:
            found = await files_below(root, place, but=EXPORTS)
        except OSError as error:
            self._done.missing.append(f"files of {scope}: {error.strerror}")
            return
        for names in found:
            await self._file(root, place, names, name="/".join(("files", self._done.scopes[scope], *names)))

    async def _file(self, root: Path, place: Names, names: Names, *, name: str) -> None:
        async def as_far() -> AsyncGenerator[bytes]:
            try:
                async with aclosing(pieces_of(root, (*place, *names))) as pieces:
                    async for piece in pieces:
                        yield piece
            except OSError as error:  # deleted, or made something else, while we came to it
                self._done.missing.append(f"{name}: {error.strerror}")

        await self._package.add(name, as_far())
        self._done.files += 1

    # Sessions

    async def _transcript(self, session: str) -> None:
        await self._package.add(f"transcripts/{self._done.sessions[session]}.jsonl", self._lines(session))

    async def _lines(self, session: str) -> AsyncGenerator[bytes]:
        async with aclosing(self._sources.transcripts.pieces(session)) as pieces:
            async for piece in pieces:
                if piece.reason:
                    self._done.missing.append(
                        f"messages {piece.first} to {piece.upto - 1} of session {session}: {piece.reason}"
                    )
                    continue
                self._done.messages += len(piece.raws)
                yield lines_of(piece.raws)

    async def _own_lines(self, session: str) -> AsyncGenerator[bytes]:
        """What a person said among others, each message with its index."""
        async with aclosing(self._sources.transcripts.pieces(session)) as pieces:
            async for piece in pieces:
                if piece.reason:
                    self._done.missing.append(
                        f"messages {piece.first} to {piece.upto - 1} of session {session}: {piece.reason}"
                    )
                for index, entry in piece.entries():
                    if self._subject.said(session, entry):
                        self._done.messages += 1
                        yield b'{"index":%d,%s\n' % (index, _encode(entry)[1:])
        bus = self._sources.bus
        for raw in await bus.call("ZRANGE", bus.keys.overheard(session), 0, -1):
            # In no log yet: the bot was not asked since.
            if raw and self._subject.overheard(session, raw):
                yield raw + b"\n"

    async def _session(self, session: str) -> None:
        bus, keys = self._sources.bus, self._sources.bus.keys
        fields = pairs(await bus.call("HGETALL", keys.session(session)))
        notices: Any = await bus.call("XRANGE", keys.notices(session), "-", "+")
        waiting: list[Any] = []
        for stream_id in await bus.call("LRANGE", keys.waiting(session), 0, -1):
            found = await bus.call("XRANGE", keys.inbox(keys.partition(session)), stream_id, stream_id)
            raws = [dict(pairs(entry))[b"message"] for _, entry in found]
            waiting += [_json_or_text(raw) for raw in raws if not _forgets(raw)]
        overheard: list[bytes] = await bus.call("ZRANGE", keys.overheard(session), 0, -1)
        reminders = pairs(await bus.call("HGETALL", keys.reminders(session)))
        content = {
            "session": session,
            "fields": {_text(name): _json_or_text(value) for name, value in fields if name not in SECRET_FIELDS},
            "waiting": waiting,
            "reminders": [_json_or_text(raw) for _, raw in reminders],
            "overheard": [_json_or_text(raw) for raw in overheard if raw],
            "notices": [_json_or_text(dict(pairs(entry))[b"notice"]) for _, entry in notices],
        }
        text = msgspec.json.format(_encode(content), indent=2).decode()
        await self._package.add_text(f"sessions/{self._done.sessions[session]}.json", text)

    async def _dead(self) -> AsyncGenerator[bytes]:
        wanted = self._done.sessions
        async with aclosing(self._sources.dead.all()) as letters:
            async for letter in letters:
                if letter.session in wanted:
                    row = {"session": letter.session, "id": letter.id, "reason": letter.reason, "kind": letter.kind}
                    yield _encode(row | {"payload": _json_or_text(letter.payload)}) + b"\n"

    # Usage

    async def _usage(self) -> AsyncGenerator[bytes]:
        book, today = UsageBook(self._sources.bus), self._sources.clock.now().date()
        # A day begins earlier or later where the bot lives.
        first = today - dt.timedelta(days=int(KEPT_S) // DAY_S)
        days = [(first + dt.timedelta(days=number)).isoformat() for number in range(int(KEPT_S) // DAY_S + 2)]
        named: Mapping[Any, Sequence[str]] = {"person": self._subject.users, "session": list(self._done.sessions)}
        for kind, names in named.items():
            for at in range(0, len(names), USAGE_NAMES):
                part = names[at : at + USAGE_NAMES]
                for day, name, amount in await book.named(days, kind, part, currencies=self._sources.currencies):
                    yield _encode({"day": day, kind: name, **msgspec.to_builtins(amount)}) + b"\n"


USAGE_NAMES = 50
"""Sessions whose accounts are read at once."""

SECRET_FIELDS = frozenset([b"nonce", b"done", b"released", b"settled"])
"""Of a session's hash: what lets its holder write, or did."""

_LINE_END = "\n"


class _Text(msgspec.Struct):
    text: str = ""


_decode_text = msgspec.json.Decoder(_Text).decode


class _Command(msgspec.Struct):
    command: str = ""


_decode_command = msgspec.json.Decoder(_Command).decode


def _forgets(raw: bytes) -> bool:
    """Whether a message is a ``/forget`` command, which contains the words that are to be removed."""
    try:
        return _decode_command(raw).command == "forget"
    except UNREADABLE:
        return False


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _json_or_text(raw: bytes) -> Any:
    """What was stored as JSON as it is, and anything else as text."""
    if raw[:1] in (b"{", b"["):
        try:
            msgspec.json.decode(raw)
        except UNREADABLE:
            return _text(raw)
        return msgspec.Raw(raw)
    return _text(raw)

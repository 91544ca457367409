"""What tests of forgetting do over and over: say something everywhere, have it forgotten, look for it everywhere."""

import gzip
import itertools
import json
import os
import zipfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import anyio
import msgspec

from daemon.archive import Shelf
from daemon.bus import Bus, publish
from daemon.config import BotConfig, Config, ConsolidationConfig, ModelConfig, TerminalConfig
from daemon.durable import DRAFT
from daemon.events import Live, LogEntry, Notice, Overheard, Reply
from daemon.forget import ForgetOrder, ForgetRequests, ForgetSearch, ForgetStores, Matches, stores_for
from daemon.forget.text_matcher import TextMatcher
from daemon.job_handlers import job_runner
from daemon.jobs import JobRecord, Jobs, NotifiedChat
from daemon.memory import HistoryEntry, Memories, Note, Version
from daemon.process import Process
from daemon.scope import folder_of
from daemon.session import Claim, Commit, SessionLabels
from daemon.tokens import load
from tests.conftest import Lab, an_inbound, dump
from tests.datalab import a_reminder
from tests.limits import HANG_S
from tests.memorylab import MemoryLab, Summaries, saves
from workers.consolidation import ConsolidationRequest

CANARY = "Kanarienvogel 黄雀"
KEPT = "Rotkehlchen"  # what is not to be forgotten, and stands beside it

ANN, ANNS, BOB = "web:ann", "terminal:ann", "web:bob"
SCOPE, BOBS = "pond:person:web:ann", "pond:person:web:bob"
SCOPES = {ANN: SCOPE, ANNS: SCOPE, BOB: BOBS}

NOW = ConsolidationRequest(at="now")
_numbers = itertools.count()


def pond(process: Process, folder: Path) -> Process:
    """A process whose bot has a small window and a folder of its own."""
    model = ModelConfig(context_window_tokens=4_096)
    bot = BotConfig(model=model, tools=("time",), workspace=str(folder / "pond"))
    config = msgspec.structs.replace(
        process.config, bots={"pond": bot}, channels={**Config().channels, "terminal": TerminalConfig()},
        consolidation=msgspec.structs.replace(ConsolidationConfig(), keep_turns=1),
    )  # fmt: skip
    return replace(process, config=config)


class Pond:
    def __init__(self, process: Process, lab: Lab) -> None:
        self.process = process
        self.lab = lab
        self.bus: Bus = lab.bus
        self.stores: ForgetStores = stores_for(process)
        self.memories: Memories = self.stores.memories
        self.workspace = process.workspace("pond")

    async def inbound(self, session: str, text: str, **more: Any) -> str:
        message = an_inbound(f"m{next(_numbers)}", session=session, text=text, **more)
        await publish(self.bus, message, scope=SCOPES[session], config=self.process.config.queue)
        return message.id

    async def turn(self, session: str, *texts: str, answer: str = "I see.", told: str = "", gave: str = "") -> None:
        """Somebody says something and is answered, maybe with a tool's help."""
        for text in texts:
            await self.inbound(session, text)
        claim = await self.lab.claim(session)
        sender = "bob" if session == BOB else "ann"
        entries = await self.entries(claim.begun.head, texts, answer=answer, told=told, gave=gave, sender=sender)
        await self.lab.sessions.commit(claim, self.commit_of(claim, entries), step=0, go_on=False)

    def commit_of(self, claim: Claim, entries: Sequence[LogEntry]) -> Commit:
        return Commit(
            entries=tuple(entries), tokens=sum(entry.tokens for entry in entries),
            answered=tuple(waiting.stream_id for waiting in claim.begun.waiting), fixed_tokens=300, settle_tokens=0,
        )  # fmt: skip

    async def entries(
        self, turn: int, texts: Sequence[str], *, answer: str = "", told: str = "", gave: str = "", sender: str = "ann"
    ) -> list[LogEntry]:
        wires: list[dict[str, Any]] = [{"role": "user", "content": text} for text in texts]
        if told or gave:
            function = {"name": "write_file", "arguments": json.dumps({"path": "a", "content": told})}
            wires.append({"role": "assistant", "tool_calls": [{"id": "c1", "function": function, "type": "function"}]})
            wires.append({"role": "tool", "content": gave, "tool_call_id": "c1"})
        if answer:
            wires.append({"role": "assistant", "content": answer})
        tokenizer = await load("offline")
        found = list[LogEntry]()
        for wire in wires:
            raw = msgspec.json.encode(wire)
            said = wire["role"] == "user"
            found.append(
                LogEntry(
                    time="2026-11-20T09:00:00.000Z", turn=turn, tokens=tokenizer.count_message(raw),
                    id=f"u{turn}" if said else "", sender=sender if said else "", wire=msgspec.Raw(raw),
                )
            )  # fmt: skip
        return found

    async def consolidate(self, session: str, *summaries: Any, want: ConsolidationRequest = NOW) -> None:
        """Have everything up to the newest turn become memory."""
        memory = MemoryLab(self.process, self.lab, Summaries(*summaries), session=session)
        report = await memory.consolidator.consolidate(session, want)
        assert report.outcome in ("settled", "busy"), report

    async def plant(self, canary: str = CANARY) -> None:
        """Let ``canary`` stand wherever something can, in what is Ann's; and in what is Bob's, who keeps it."""
        for at, session in enumerate((ANN, BOB)):
            scope = SCOPES[session]
            await self.turn(session, f"I have a {canary}. And a {KEPT}.", answer=f"A {canary}, how nice!")
            await self.turn(session, "Write it down.", told=f"{canary}!\n{KEPT}", gave=f"wrote {canary}")
            await self.turn(session, f"What is a {KEPT}?", answer="A bird.")
            long = f"- likes boats {at}\n" * 80
            await self.consolidate(
                session,
                saves(
                    f"[2026-11-20 09:00] Ann has a {canary}. She has a {KEPT} too.",
                    memory=f"# Ann\n- has a {canary}\n- has a {KEPT}\n{long}",
                    continuity=f"They spoke of the {canary}. And of a {KEPT}.",
                ),
            )
            await self.turn(session, f"The {canary} sings.", answer=f"My {KEPT} too.")
            await self.consolidate(
                session, saves(f"[2026-11-20 09:10] The {canary} sings.", memory=f"- only a {canary}")
            )
            await self.turn(session, f"The {canary} sings again. So does the {KEPT}.")
            await self.bus.call("HSET", self.bus.keys.session(session), "failures", 3)
            await self.consolidate(session)
            await self.flush(session, canary)
            parts = json.dumps({"done": 1, "taken": {"entries": [f"The {canary} sings."]}})
            await self.bus.call("HSET", self.bus.keys.session(session), "parts", parts)
            await self.turn(session, f"Where is the {canary}?", answer=f"Where your {KEPT} is, not the {canary}.")
            await self.turn(session, f"And the {KEPT}?")
            await self.shelve(session)
            await self.queue(session, canary)
            reminder = a_reminder("k3f9ab", text=f"feed the {canary}", session=session)
            await self.bus.call("HSET", self.bus.keys.reminders(session), reminder.id, reminder.raw)
            await self.bus.call("HSET", self.bus.keys.reminders(session), "kept", a_reminder("kept", text=KEPT).raw)
            await self.write_files(scope, canary)
            await self.orphan(session, canary)
        await SessionLabels(self.bus).rename(ANN, f"My {canary}")
        await self.asking.keep(ANNS, canary, Matches(shown=(), more=0, counts={}, failed=()), by="ann")
        await self.turn(ANNS, f"Is there a boat called {canary}?", answer=f"No, but one called {KEPT}.")
        typed = self.process.data_dir / "terminal_history"
        typed.write_text(f"\n# 2026-11-20\n+a {canary}\n+and more\n\n# 2026-11-20\n+a {KEPT}\n")

    async def flush(self, session: str, canary: str) -> None:
        scope = SCOPES[session]
        lock = await self.stores.locks.take(session)
        assert lock is not None
        opened = await self.memories.open(scope, session, fence=lock.fence, nonce=lock.nonce)
        note = Note(time="t", date="2026-11-20", session=session, cycle=1, text=f"- a {canary}\n- a {KEPT}")
        kept = msgspec.structs.replace(note, text=f"- only a {KEPT}")
        version = Version(kind="flush", time="t", session=session, added=f"- a {canary} in a cage")
        await self.memories.append(opened, version, cycle=1, notes=[note, kept, note])
        await self.stores.locks.give_back(lock, again_in_s=None)
        await self.stores.files.sync(scope, at_once=True)

    async def shelve(self, session: str) -> None:
        """Let the beginning of everything leave Redis for the archive."""
        archive, scope = self.stores.archive, SCOPES[session]
        await archive.trim(Shelf.log(session), (await self.lab.state(session)).cursor - 2)
        for kind in ("history", "versions", "notes"):
            await self.shelve_first(kind, scope)

    async def shelve_first(self, kind: Literal["history", "versions", "notes"], scope: str) -> None:
        """Let the oldest record of a list leave Redis for the archive; nothing of it may have left before."""
        shelf = Shelf(kind=kind, owner=scope)
        raws = await self.bus.call("LRANGE", shelf.list_key(self.bus.keys), 0, 0)
        await self.stores.archive.write(shelf, 0, raws)
        assert await self.stores.archive.trim(shelf, 1) == 1

    async def queue(self, session: str, canary: str) -> None:
        """What waits, what could not be answered, what is to be delivered, what is shown."""
        bus, keys = self.bus, self.bus.keys
        partition = keys.partition(session)
        await self.inbound(session, f"Feed the {canary}!")
        await self.inbound(session, f"Feed the {KEPT}!")
        for word in (canary, KEPT):
            message = msgspec.json.encode(an_inbound(f"d-{word}", session=session, text=f"dead {word}"))
            fields = ("session", session, "id", "d", "reason", "attempts", "attempts", "6", "message", message)
            await bus.call("XADD", keys.dead(partition), "*", *fields)
            reply = Reply(id=f"{session}#9", session=session, turn=9, text=f"A {word}.", correlation="c")
            await bus.call("XADD", keys.out(partition, "web"), "*", "reply", msgspec.json.encode(reply))
            notice = Notice(kind="aside", text=f"I remember a {word}.", time="t")
            await bus.call("XADD", keys.notices(session), "*", "notice", msgspec.json.encode(notice))
        await bus.call("PEXPIRE", keys.notices(session), 600_000)
        await self.overhear(session, canary, sender="bob" if session == BOB else "ann")
        await self.asking.keep(session, canary, Matches(shown=(), more=0, counts={}, failed=()), by="ann")
        live = Live(session=session, turn=9, fence=9, sequence=0, offset=0, text=f"A {canary}")
        await bus.call("SET", keys.live(session), msgspec.json.encode(live), "PX", 600_000)

    async def overhear(self, session: str, *words: str, sender: str = "ann") -> None:
        key = self.bus.keys.overheard(session)
        for word in (*words, KEPT):
            text = f"A {word} said {sender}."
            said = Overheard(id=f"o-{sender}-{word}", sender_id=sender, text=text, at="t", is_reaction=sender == "ann")
            await self.bus.call("ZADD", key, 1, msgspec.json.encode(said))
        await self.bus.call("PEXPIRE", key, 600_000)

    async def write_files(self, scope: str, canary: str) -> None:
        folder = self.workspace / "files" / folder_of(scope)
        (folder / "results").mkdir(parents=True)
        (folder / "deep" / "er").mkdir(parents=True)
        (folder / "notes.md").write_text(f"# Birds\n- {canary}\n- {KEPT}\n")
        (folder / "results" / "turn-1-call-0-0.txt").write_text(f"row {KEPT}\nrow {canary}\n" * 3)
        (folder / "deep" / "er" / "birds.json").write_text(json.dumps({"bird": canary}))
        (folder / "deep" / "kept.json").write_text(json.dumps({"bird": KEPT}))
        (folder / "packed.gz").write_bytes(gzip.compress(canary.encode() * 9))
        (folder / "kept.gz").write_bytes(gzip.compress(KEPT.encode() * 9))
        with zipfile.ZipFile(folder / "export.zip", "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("log.jsonl", json.dumps({"text": canary}, ensure_ascii=False))
            file.writestr("packed.jsonl.gz", gzip.compress(canary.encode()))
        (folder / f"{canary}.txt").write_text("nothing")
        (folder / DRAFT).write_text(f"half a {canary}")

    async def orphan(self, session: str, canary: str) -> None:
        """A file of a worker that was killed before it could list it."""
        folder = self.process.data_dir / "transcripts" / Shelf.log(session).folder
        entries = await self.entries(0, [f"lost {canary}"])
        lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
        (folder / "transcript_1_x_0-1.jsonl.gz").write_bytes(gzip.compress(lines))
        (folder / DRAFT).write_bytes(gzip.compress(lines))

    # Forgetting

    async def order(
        self, text: str = CANARY, *, order: ForgetOrder | None = None, name: str = "1", **search: Any
    ) -> str:
        """Have something forgotten, sometime; the job."""
        order = order or ForgetOrder(name=SCOPE, scopes=(SCOPE,), chat=ANN)
        search_ = None if order.whole else ForgetSearch(text=text, **search)
        tell = None if order.whole else NotifiedChat(session=ANN)
        return await self.asking.order(order, search_, name=name, tell=tell)

    @property
    def asking(self) -> ForgetRequests:
        """What ``/forget`` orders with."""
        return ForgetRequests(self.bus, Jobs(self.bus, lease_s=0.5, worker="asking", clock=self.process.clock))

    async def forget(self, text: str = CANARY, **more: Any) -> JobRecord:
        record = await self.done(await self.order(text, **more))
        assert record.status == "done", record
        return record

    async def done(self, job_id: str) -> JobRecord:
        return await job_runner(self.process).until_ended(job_id, within_s=HANG_S)

    async def places(self, canary: str = CANARY, *, of: str = SCOPE) -> list[str]:
        """Where it stands: keys and files of a scope; or of everybody, without one."""
        keys = {key for key, value in (await dump(self.bus)).items() if stands_in(value, canary)}
        files = {str(path) for path in files_with(canary, self.workspace, self.process.data_dir)}
        return sorted(keys | files)


def stands_in(value: Any, canary: str) -> bool:
    """Whether something that a server gives holds it, however it is written."""
    if isinstance(value, bytes):
        return _in_bytes(value, canary)
    if isinstance(value, str):
        return TextMatcher(canary).stands_in(value)
    if isinstance(value, Mapping):
        return any(stands_in(part, canary) for pair in value.items() for part in pair)
    return isinstance(value, Sequence) and any(stands_in(part, canary) for part in value)


def _in_bytes(raw: bytes, canary: str) -> bool:
    texts = [raw.decode(errors="replace")]
    for line in (texts[0], *texts[0].splitlines()):
        try:
            texts.append(json.dumps(json.loads(line), ensure_ascii=False))
        except (ValueError, RecursionError):
            continue
    return any(TextMatcher(canary).stands_in(text) for text in texts)


def files_with(canary: str, *folders: Path) -> set[Path]:
    found = set[Path]()
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in names:
                path = Path(folder, name)
                if TextMatcher(canary).stands_in(name) or any(_in_bytes(raw, canary) for raw in _unpacked(path)):
                    found.add(path)
    return found


def _unpacked(path: Path) -> list[bytes]:
    try:
        raw = path.read_bytes()
    except OSError:
        return []  # a socket
    return _inside(raw)


def _inside(raw: bytes) -> list[bytes]:
    if raw.startswith(b"\x1f\x8b"):
        return [raw, *_inside(gzip.decompress(raw))]
    if raw.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(raw)) as file:
            return [raw, *(part for member in file.infolist() for part in _inside(file.read(member)))]
    return [raw]


@asynccontextmanager
async def meanwhile(pond: Pond, job_id: str) -> AsyncIterator[list[JobRecord]]:
    """A job that is done while something else happens; at the end of the block it is waited for."""
    records: list[JobRecord] = []

    async def do() -> None:
        records.append(await pond.done(job_id))

    async with anyio.create_task_group() as tg:
        tg.start_soon(do)
        yield records


def texts(log: Sequence[LogEntry]) -> str:
    return "\n".join(bytes(entry.wire).decode() for entry in log)


def entry_texts(entries: Sequence[HistoryEntry]) -> str:
    return "\n".join(entry.text for entry in entries)

"""Recall by QMD, with a fake of the program: what is found, what stays whole when it misbehaves, what is left."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import anyio
import msgspec
import pytest
from anyio import to_thread
from structlog.testing import capture_logs

from daemon.bus import Bus
from daemon.cli.doctor.model_checks import examine_search
from daemon.config import MemorySearchConfig
from daemon.errors import ArchiveError, BusUnavailable
from daemon.memory import HistoryEntry, Memories, Note, Opened, Version
from daemon.process import Process
from daemon.recall import Chunk, Hit, InPrompt, Mode, SearchResults, SessionBook
from daemon.recall.chunks import history_chunks, lines_of
from daemon.recall.index import BuiltinEngine
from daemon.recall.index_removal import forget_in_indexes
from daemon.recall.qmd import MemorySource, Qmd, QmdEngine, State, probed, remove_index
from daemon.recall.qmd import index_upkeep as upkeep_module
from daemon.recall.qmd.qmd_engine import SEARCHES_MAX
from daemon.recall.qmd.qmd_program import INSTALL, PASSED_ON, Failed, Late
from daemon.recall.qmd.qmd_store import QmdStore
from daemon.scope import folder_of
from tests.conftest import Lab
from tests.fakes.qmd import HOWS, Installed, install
from tests.limits import HANG_S, until
from tests.memorylab import MemoryLab, Summaries, small_window
from tests.tables import each_row
from workers.consolidation import ConsolidationRequest

SCOPE = "pond:person:web:ann"
TEXTS = (
    "[2026-05-03 10:00] USER: My daughter is called Mia, she goes to school in Basel.",
    "[2026-05-04 09:00] USER: 我的女儿叫小雨，今年七岁。",
    "[2026-05-05 09:00] USER: 代理配置在 config.yaml 里，端口 7890。",
    "[2026-05-06 12:00] ASSISTANT: The invoice tool is at version v2.3.1, its field is user_id.",
)
FAILS = sorted(
    HOWS.keys() - {"grumble", "log", "left", "held", "strangers", "wild", "complain", "stubborn", "silent", "child"}
)
EngineOf = Callable[..., QmdEngine]
HANGS = ["child", "complain", "silent", "stubborn"]


class Builtin:
    def __init__(self) -> None:
        self.asked: list[tuple[str, str, Mode, int]] = []
        self.hits = (Hit(docid="b0b0b0b0", file="transcript/web:ann", score=1.0, snippet="said by builtin"),)
        self.note = ""

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        self.asked.append((scope, query, mode, limit))
        return SearchResults(hits=self.hits, note=self.note)


class Remembered:
    def __init__(self) -> None:
        self.texts = list(TEXTS)
        self.forgets = 0
        self.fails: Exception | None = None

    async def state(self, scope: str, known: State) -> State:
        if self.fails:
            raise self.fails
        return State(history=len(self.texts), forgets=self.forgets)

    async def chunks(self, scope: str) -> Sequence[Chunk]:
        found, line = list[Chunk](), 1
        for text in self.texts:
            found += history_chunks(text, line=line)
            line += lines_of(text)
        return found


@pytest.fixture
def qmd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    monkeypatch.setattr("daemon.recall.qmd.index_upkeep.DEBOUNCE_S", 0.01)
    return install(tmp_path / "bin")


@pytest.fixture
def builtin() -> Builtin:
    return Builtin()


@pytest.fixture
def memory() -> Remembered:
    return Remembered()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def engine_of(qmd: Installed, builtin: Builtin, memory: Remembered, data: Path) -> EngineOf:
    return partial(QmdEngine, builtin, memory, data, program=qmd.program)


@pytest.fixture
def engine(engine_of: EngineOf) -> QmdEngine:
    return engine_of()


@pytest.fixture
async def ready(engine: QmdEngine) -> QmdEngine:
    """It has an index, and was not made to prove that it works: that takes three calls."""
    engine._upkeep.worked("search")
    assert await engine.bring_in_step(SCOPE) == ""
    return engine


async def ask(engine: QmdEngine, query: str, *, mode: Mode = "search", limit: int = 3) -> SearchResults:
    return await engine.search(SCOPE, query, mode=mode, limit=limit)


def by_qmd(found: SearchResults) -> list[str]:
    return [hit.snippet for hit in found.hits if hit.file == "memory/HISTORY.md"]


async def until_found(engine: QmdEngine, query: str, text: str) -> None:
    with anyio.fail_after(HANG_S):
        while not any(text in snippet for snippet in by_qmd(await ask(engine, query))):  # noqa: ASYNC110 - as above
            await anyio.sleep(0.01)


def documents(data: Path, scope: str = SCOPE) -> list[str]:
    folder = data / "qmd" / "scopes" / folder_of(scope) / "documents"
    return sorted(path.read_text() for path in folder.iterdir()) if folder.exists() else []


async def test_a_hit_is_named_as_the_builtin_engine_names_its_place(ready: QmdEngine, memory: Remembered) -> None:
    wanted = next(chunk for chunk in await memory.chunks(SCOPE) if "invoice" in chunk.text)

    assert (await ask(ready, "invoice")).hits[0].docid == wanted.docid


async def test_words_are_asked_for_a_line_each_without_a_model(ready: QmdEngine, qmd: Installed) -> None:
    await ask(ready, "Which school does Mia go to in Basel?")

    [told] = qmd.told("query")
    assert told["words"][2].split("\n") == ["lex: school", "lex: basel", "lex: mia"]
    assert "--no-rerank" in told["words"]


async def test_what_qmd_lacks_comes_from_the_builtin_engine_behind_it(ready: QmdEngine, builtin: Builtin) -> None:
    found = await ask(ready, "invoice")

    assert [hit.docid == "b0b0b0b0" for hit in found.hits] == [False, True]
    assert found.note == ""
    assert builtin.asked == [(SCOPE, "invoice", "search", 3)]
    assert len((await ask(ready, "daughter school version", limit=2)).hits) == 2
    assert len(builtin.asked) == 1, "a full answer asks nobody else"


async def test_an_index_is_made_in_the_background_and_searched_from_then_on(
    engine: QmdEngine, builtin: Builtin, qmd: Installed
) -> None:
    async with running(engine):
        first = await ask(engine, "daughter")
        await until(lambda: qmd.told("collection")[1:])
        await until_found(engine, "daughter", "Mia")

    assert by_qmd(first) == []
    assert qmd.told("query")[0]["words"][2] == "lex: millpond", "before anything else it had to prove that it works"


@contextlib.asynccontextmanager
async def running(engine: QmdEngine) -> AsyncIterator[None]:
    async with anyio.create_task_group() as tg:
        tg.start_soon(engine.run)
        yield
        tg.cancel_scope.cancel()


async def test_what_is_written_in_a_burst_is_told_once(ready: QmdEngine, memory: Remembered, qmd: Installed) -> None:
    async with running(ready):
        for number in range(5):
            memory.texts.append(f"[2026-05-07 12:0{number}] USER: We bought {number} canaries.")
            ready.wrote(SCOPE)
        assert qmd.told("update") == []
        await until_found(ready, "canaries", "canaries")

    assert len(qmd.told("update")) == 1


async def test_a_search_that_finds_the_memory_changed_has_its_index_updated(
    ready: QmdEngine, memory: Remembered, qmd: Installed
) -> None:
    memory.texts.append("[2026-05-07 12:00] USER: We bought a canary.")
    async with running(ready):
        assert "Mia" in (await ask(ready, "daughter")).hits[0].snippet, "what there is, is searched meanwhile"
        await until(lambda: qmd.told("update"))


async def test_an_update_adds_new_documents_and_removes_old_ones(ready: QmdEngine, memory: Remembered, data: Path):
    before = documents(data)
    memory.texts[3] = "[2026-05-06 12:00] ASSISTANT: The invoice tool is at version v2.4.0."
    memory.texts.append("[2026-05-07 12:00] USER: We bought a canary.")

    assert await ready.bring_in_step(SCOPE) == ""

    assert len(set(before) & set(documents(data))) == 3
    assert len(documents(data)) == 5
    assert "v2.4.0" in (await ask(ready, "invoice")).hits[0].snippet
    assert not any("v2.3.1" in hit.snippet for hit in (await ask(ready, "v2.3.1")).hits)


async def test_nothing_is_told_again_when_nothing_has_changed(ready: QmdEngine, qmd: Installed) -> None:
    calls = len(qmd.calls)

    assert await ready.bring_in_step(SCOPE) == ""

    assert len(qmd.calls) == calls


async def test_two_scopes_share_nothing(ready: QmdEngine, memory: Remembered, data: Path, qmd: Installed) -> None:
    memory.texts = ["[2026-05-03 10:00] USER: Bob keeps bees."]
    bob = "pond:person:web:bob"
    assert await ready.bring_in_step(bob) == ""

    assert by_qmd(await ready.search(bob, "daughter", mode="search", limit=3)) == []
    assert [call["environment"]["XDG_CACHE_HOME"] for call in qmd.told("collection")] == [
        str(data / "qmd" / "scopes" / folder_of(scope)) for scope in (SCOPE, bob)
    ]


async def test_of_several_processes_one_makes_the_index(engine_of: EngineOf, qmd: Installed) -> None:
    engines = [engine_of() for _ in range(3)]
    reasons: list[str] = []

    async def bring(engine: QmdEngine) -> None:
        reasons.append(await engine.bring_in_step(SCOPE))

    async with anyio.create_task_group() as tg:
        for engine in engines:
            tg.start_soon(bring, engine)

    made = [call for call in qmd.told("collection") if folder_of(SCOPE) in call["environment"]["XDG_CACHE_HOME"]]
    assert len(made) == 1
    assert set(reasons) <= {"", "another process is updating the search index"}
    assert all([by_qmd(await ask(engine, "daughter")) for engine in engines])


@pytest.mark.parametrize("damage", ["index", "told", "config", "documents", "form"])
async def test_what_is_damaged_or_gone_is_made_anew(
    ready: QmdEngine, memory: Remembered, data: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.recall.qmd.index_upkeep.REST_MIN_S", 0.0)
    folder = data / "qmd" / "scopes" / folder_of(SCOPE)
    [index], [config] = (folder / "qmd").glob("*.sqlite"), (folder / "config").glob("*.yml")
    match damage:
        case "index":
            index.write_bytes(b"\x00\xff" * 1_000)
        case "config":
            config.unlink()
        case "documents":
            for path in (folder / "documents").iterdir():
                path.unlink()
            memory.texts.append("[2026-05-07 12:00] USER: We bought a canary.")
        case "told":
            (folder / "told.json").write_bytes(b"{")
        case _:
            (folder / "told.json").write_text((folder / "told.json").read_text().replace('"form":1', '"form":0'))

    assert (await ask(ready, "daughter")).hits, "somebody answers"
    assert await ready.bring_in_step(SCOPE) == ""

    assert "Mia" in (await ask(ready, "daughter")).hits[0].snippet


async def test_a_disk_that_cannot_be_written_leaves_the_builtin_engine(
    qmd: Installed, builtin: Builtin, memory: Remembered, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    engine = QmdEngine(builtin, memory, tmp_path / "file", program=qmd.program)

    with capture_logs() as logs:
        assert "cannot be written" in await engine.bring_in_step(SCOPE)
        assert (await ask(engine, "daughter")).hits == builtin.hits

    assert [line["event"] for line in logs] == ["qmd.failed"]


async def test_a_forgotten_entry_is_not_found_and_the_index_is_new(ready: QmdEngine, memory: Remembered, data: Path):
    before = {path.name for path in (data / "qmd").rglob("*.sqlite")}
    del memory.texts[0]
    memory.forgets += 1

    assert by_qmd(await ask(ready, "Mia Basel school")) == []
    assert await ready.bring_in_step(SCOPE) == ""

    assert before.isdisjoint({path.name for path in (data / "qmd").rglob("*.sqlite")})
    assert not holds(data, "Mia")
    assert "小雨" in (await ask(ready, "女儿")).hits[0].snippet


async def test_whoever_forgets_finds_nothing_left(ready: QmdEngine, data: Path) -> None:
    assert holds(data, "Mia")

    await to_thread.run_sync(remove_index, data, SCOPE)

    assert not holds(data, "Mia")
    assert not list((data / "qmd" / "scopes").iterdir())
    assert (await ask(ready, "Mia")).hits[0].docid == "b0b0b0b0"
    await to_thread.run_sync(remove_index, data, SCOPE)
    assert await ready.bring_in_step(SCOPE) == "", "and it can be made again"


async def test_whoever_forgets_waits_for_an_update_that_is_going_on(
    ready: QmdEngine, memory: Remembered, qmd: Installed, data: Path
) -> None:
    memory.texts.append("[2026-05-07 12:00] USER: We bought a canary.")
    qmd.misbehaves(update="held")
    async with anyio.create_task_group() as tg:
        tg.start_soon(ready.bring_in_step, SCOPE)
        await until(lambda: qmd.told("update"))
        tg.start_soon(to_thread.run_sync, remove_index, data, SCOPE)
        await anyio.sleep(0.1)
        (qmd.folder / "go").touch()

    assert not holds(data, "canary")


async def test_forgetting_fails_on_a_held_index(ready: QmdEngine, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.recall.qmd.qmd_store.DELETE_WAIT_S", 0.05)

    with QmdStore(data).held(SCOPE), pytest.raises(TimeoutError):
        remove_index(data, SCOPE)


def holds(data: Path, text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in data.rglob("*") if path.is_file())


@pytest.mark.parametrize("how", FAILS)
async def test_whatever_a_search_does_the_builtin_engine_answers(
    ready: QmdEngine, builtin: Builtin, qmd: Installed, how: str
) -> None:
    qmd.misbehaves(query=how)

    with capture_logs() as logs:
        found = await ask(ready, "What about the secret daughter?")
        again = await ask(ready, "What about the secret daughter?")

    assert found.hits == again.hits == builtin.hits
    assert "qmd" in found.note
    assert len(qmd.told("query")) == 1, "it is left alone then"
    [line] = [each for each in logs if each["event"] == "qmd.failed"]
    assert INSTALL in line["reason"]
    assert "secret" not in str(logs)
    assert qmd.left() == []


@pytest.mark.parametrize("how", HANGS)
async def test_a_hanging_program_is_killed_with_its_children(
    ready: QmdEngine, builtin: Builtin, qmd: Installed, how: str
) -> None:
    ready._timeout_s = 0.5
    qmd.misbehaves(query=how)

    assert (await ask(ready, "daughter")).hits == builtin.hits
    await until(lambda: qmd.left() == [])


async def test_a_search_leaves_time_for_the_builtin_engine(ready: QmdEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    async def run(*_words: object, within_s: float) -> bytes:
        given.append(within_s)
        return b"[]"

    monkeypatch.setattr(Qmd, "run", run)
    with anyio.fail_after(HANG_S / 10):
        await ask(ready, "daughter")

    assert 0 < given[0] < 0.7 * HANG_S / 10


@pytest.mark.parametrize("how", ["grumble", "log", "left"])
async def test_what_is_only_strange_is_an_answer_all_the_same(ready: QmdEngine, qmd: Installed, how: str) -> None:
    qmd.misbehaves(query=how)

    with anyio.fail_after(HANG_S):
        found = await ask(ready, "daughter")

    assert "Mia" in found.hits[0].snippet
    await until(lambda: qmd.left() == [])


@pytest.mark.parametrize("how", ["strangers", "wild"])
async def test_nothing_in_an_answer_is_believed(ready: QmdEngine, qmd: Installed, how: str) -> None:
    qmd.misbehaves(query=how)

    hits = (await ask(ready, "daughter")).hits

    assert hits[-1].docid == "b0b0b0b0"
    assert all(0 <= hit.score <= 1 and hit.file != "/etc/passwd" for hit in hits)
    assert len(hits) == (1 if how == "strangers" else 2)


async def test_who_is_cancelled_leaves_nothing_running(ready: QmdEngine, qmd: Installed) -> None:
    qmd.misbehaves(query="child")

    async with anyio.create_task_group() as tg:
        tg.start_soon(ask, ready, "daughter")
        await until((qmd.folder / "children").exists)
        tg.cancel_scope.cancel()

    await until(lambda: qmd.left() == [])


async def test_a_short_deadline_does_not_ask_it_at_all(
    ready: QmdEngine, qmd: Installed, builtin: Builtin, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = len(qmd.calls)
    monkeypatch.setattr("daemon.recall.qmd.qmd_engine.LEAST_S", HANG_S)

    with anyio.fail_after(HANG_S):
        found = await ask(ready, "daughter")

    assert found.hits == builtin.hits
    assert len(qmd.calls) == calls


async def test_what_is_too_slow_for_a_turn_is_asked_by_whoever_waits(
    ready: QmdEngine, qmd: Installed, builtin: Builtin, monkeypatch: pytest.MonkeyPatch
) -> None:
    qmd.misbehaves(query="stubborn")

    with capture_logs() as logs:
        with monkeypatch.context() as turns:
            turns.setattr("daemon.recall.qmd.qmd_engine.SHARE", 0.5 / HANG_S)
            for _ in range(2):
                with anyio.fail_after(HANG_S):
                    assert (await ask(ready, "daughter")).hits == builtin.hits
        assert len(qmd.told("query")) == 1, "turns leave it alone"
        qmd.misbehaves()
        assert by_qmd(await ask(ready, "daughter"))

    assert [line["event"] for line in logs] == ["qmd.failed"]
    assert "for a turn" in logs[0]["reason"]


async def test_too_many_at_once_wait_and_it_is_nobodys_fault(
    ready: QmdEngine, qmd: Installed, builtin: Builtin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.recall.qmd.qmd_engine.LEAST_S", 0.0)
    qmd.misbehaves(query="held")
    answers: list[SearchResults] = []

    async def one() -> None:
        answers.append(await ask(ready, "daughter"))

    with capture_logs() as logs:
        async with anyio.create_task_group() as tg:
            for _ in range(SEARCHES_MAX):
                tg.start_soon(one)
            await until(lambda: len(qmd.told("query")) == SEARCHES_MAX)
            monkeypatch.setattr(ready, "_timeout_s", 0.05)
            late = [await ask(ready, "daughter") for _ in range(2)]
            (qmd.folder / "go").touch()

    assert len(qmd.told("query")) == len(answers) == SEARCHES_MAX
    assert all(by_qmd(each) for each in answers)
    assert [each.hits for each in late] == [builtin.hits] * 2
    assert logs == []
    assert qmd.left() == []


async def test_without_the_program_the_builtin_engine_answers_and_one_line_says_how_to_install(
    builtin: Builtin, memory: Remembered, tmp_path: Path
) -> None:
    engine = QmdEngine(builtin, memory, tmp_path, program=str(tmp_path / "none"))

    with capture_logs() as logs:
        for _ in range(3):
            assert (await ask(engine, "daughter")).hits == builtin.hits
            await engine.bring_in_step(SCOPE)

    assert [line["event"] for line in logs] == ["qmd.failed"]
    assert "npm install -g @tobilu/qmd" in logs[0]["reason"]
    assert not documents(tmp_path), "nobody's memory is copied for nothing"


@pytest.mark.parametrize(
    ("command", "how"), [("collection", "crash"), ("collection", "status"), ("query", "crash"), ("query", "garbage")]
)
async def test_no_index_is_made_before_a_real_search_has_worked(
    engine: QmdEngine, qmd: Installed, data: Path, command: str, how: str
) -> None:
    qmd.misbehaves(**{command: how})

    assert await engine.bring_in_step(SCOPE) != ""

    assert documents(data) == []


async def test_a_working_program_is_searched_again(ready: QmdEngine, qmd: Installed, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("daemon.recall.qmd.index_upkeep.REST_MIN_S", 0.0)
    qmd.misbehaves(query="crash")
    assert by_qmd(await ask(ready, "daughter")) == []
    qmd.misbehaves()

    with capture_logs() as logs:
        assert await ready.bring_in_step(SCOPE) == ""
        assert "Mia" in (await ask(ready, "daughter")).hits[0].snippet

    assert "qmd.back" in [line["event"] for line in logs]


async def test_an_update_that_fails_leaves_no_half_index(
    ready: QmdEngine, memory: Remembered, qmd: Installed, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.recall.qmd.index_upkeep.REST_MIN_S", 0.0)
    memory.texts.append("[2026-05-07 12:00] USER: We bought a canary.")
    qmd.misbehaves(update="crash")
    assert await ready.bring_in_step(SCOPE) != ""
    assert QmdStore(data).known(SCOPE) is None
    qmd.misbehaves()

    assert await ready.bring_in_step(SCOPE) == ""

    assert "canary" in (await ask(ready, "canary")).hits[0].snippet


async def test_an_unreadable_memory_is_left_to_the_builtin(ready: QmdEngine, memory: Remembered, builtin: Builtin):
    memory.fails = ArchiveError("away")
    assert (await ask(ready, "daughter")).hits == builtin.hits
    assert await ready.bring_in_step(SCOPE) == "away"

    memory.fails = BusUnavailable("away")
    with pytest.raises(BusUnavailable):
        await ask(ready, "daughter")


async def test_vectors_are_made_some_at_a_time(engine_of: EngineOf, qmd: Installed) -> None:
    engine = engine_of(mode="query")

    with capture_logs() as logs:
        assert await engine.bring_in_step(SCOPE) == ""

    progress = [(line["event"], line["count"]) for line in logs if line["event"].startswith("qmd.embed")]
    assert progress == [("qmd.embedding", 2), ("qmd.embedding", 4), ("qmd.embedded", 4)]
    found = await ask(engine, "my daughter", mode="query")
    assert "Mia" in found.hits[0].snippet
    [told] = qmd.told("query")[1:]
    assert told["words"][2].split("\n") == ["lex: daughter", "vec: my daughter"]
    assert "--no-rerank" not in told["words"]


async def test_without_vectors_the_builtin_engine_searches_by_meaning(ready: QmdEngine, builtin: Builtin) -> None:
    builtin.note = "no vectors"

    assert (await ask(ready, "daughter", mode="vsearch")).note == "no vectors"
    assert builtin.asked[0][2] == "vsearch"


@pytest.mark.parametrize("how", ["stubborn", "status", "nothing"])
async def test_vectors_that_cannot_be_made_do_not_keep_words_from_being_found(
    engine_of: EngineOf, qmd: Installed, builtin: Builtin, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "stubborn":
        monkeypatch.setattr("daemon.recall.qmd.qmd_commands.EMBED_SLICE_S", 0.4)
    qmd.misbehaves(embed=how)
    engine = engine_of(mode="query")

    with capture_logs() as logs:
        assert await engine.bring_in_step(SCOPE) == ""
        assert await engine.bring_in_step(SCOPE) == ""

    assert len([line for line in logs if line["event"] == "qmd.failed"]) == 1
    assert len(qmd.told("embed")) <= 1, "it is left alone"
    assert by_qmd(await ask(engine, "daughter", mode="search"))
    assert (await ask(engine, "daughter", mode="query")).hits == builtin.hits


async def test_an_update_keeps_vectors_usable(engine_of: EngineOf, qmd: Installed, memory: Remembered, data: Path):
    engine = engine_of(mode="vsearch")
    await engine.bring_in_step(SCOPE)
    memory.texts.append("[2026-05-07 12:00] USER: We bought a canary.")
    qmd.misbehaves(embed="status")
    await engine.bring_in_step(SCOPE)

    known = QmdStore(data).known(SCOPE)

    assert known
    assert known.told.has_vectors
    assert not known.told.is_embedded


async def test_vectors_of_an_index_that_was_made_anew_are_not_taken_for_its_own(
    engine_of: EngineOf, memory: Remembered, data: Path
) -> None:
    engine = engine_of(mode="query")
    upkeep: upkeep_module.IndexUpkeep = engine._upkeep
    await engine.bring_in_step(SCOPE)
    memory.forgets += 1
    plain = engine_of()
    await plain.bring_in_step(SCOPE)

    upkeep._embedded(SCOPE, "another index")

    known = QmdStore(data).known(SCOPE)
    assert known
    assert not known.told.has_vectors


async def test_it_learns_no_secret_and_keeps_everything_in_its_folder(
    qmd: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("INDEX_PATH", "/elsewhere")
    monkeypatch.setenv("QMD_CONFIG_DIR", "/elsewhere")
    monkeypatch.setenv("QMD_EMBED_MODEL", "mine")
    root = tmp_path / "root"

    await Qmd(root, qmd.program).run("i", "--version", within_s=HANG_S)

    found = qmd.calls[0]["environment"]
    ours = {name for name in found if not name.startswith(("LC_", "QMD_", "XDG_"))} - PASSED_ON
    assert ours <= {"PWD", "NO_COLOR", "OLDPWD", "SHLVL", "_"}
    assert "sk-secret" not in found.values()
    assert found["QMD_EMBED_MODEL"] == "mine"
    assert found["QMD_CONFIG_DIR"] == str(root / "config")
    assert found["XDG_CACHE_HOME"] == found["PWD"] == str(root)
    assert root.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("how", ["flood", "stubborn", "child", "silent", "complain"])
async def test_a_program_gets_no_more_time_and_room_than_it_is_given(qmd: Installed, tmp_path: Path, how: str) -> None:
    qmd.misbehaves(update=how)
    within_s = HANG_S if how == "flood" else 0.3

    with pytest.raises(Failed) as failure:
        await Qmd(tmp_path, qmd.program).run("i", "update", within_s=within_s)

    assert isinstance(failure.value, Late) == (how != "flood")
    await until(lambda: qmd.left() == [])


async def test_a_program_that_cannot_be_run_is_one_that_fails(tmp_path: Path) -> None:
    (tmp_path / "qmd").write_bytes(b"\x00 no program")
    (tmp_path / "qmd").chmod(0o755)

    with pytest.raises(Failed, match="cannot be started"):
        await Qmd(tmp_path, str(tmp_path / "qmd")).run("i", "update", within_s=HANG_S)


async def test_a_probe_reports_and_leaves_nothing(qmd: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    works = await probed(qmd.program)
    qmd.misbehaves(query="status")
    fails = await probed(qmd.program)

    assert (works.version, works.why) == ("2.8.3", "")
    assert works.path == qmd.program
    assert "status 1" in fails.why
    assert "lex: millpond" in fails.said
    assert not list((tmp_path / "temporary").iterdir())


@each_row("how", ["crash", "garbage", "nothing", "strangers"])
async def test_a_probe_believes_nothing_but_its_own_document(qmd: Installed, how: str) -> None:
    qmd.misbehaves(query=how)

    assert (await probed(qmd.program)).why


async def test_a_memory_is_given_as_it_stands_in_its_files(bus: Bus) -> None:
    memories = Memories(bus)
    source = MemorySource(memories)
    empty = await source.state("pond:workspace", State())
    assert list(await source.chunks("pond:workspace")) == []
    await remember(memories, 0, "[2026-11-20 09:00] USER: Mia starts school.\n[2026-11-20 09:01] ASSISTANT: Good luck!")
    once = await source.state("pond:workspace", empty)
    await remember(memories, 2, "[2026-11-20 10:00] USER: It rains.")

    chunks = await source.chunks("pond:workspace")
    again = await source.state("pond:workspace", once)

    assert len({empty, once, again}) == 3
    assert again == await source.state("pond:workspace", State()), "whatever was known before"
    assert [(chunk.kind, chunk.file, chunk.first) for chunk in chunks] == [
        ("memory", "memory/MEMORY.md", 3),
        ("history", "memory/HISTORY.md", 1),
        ("history", "memory/HISTORY.md", 2),
        ("history", "memory/HISTORY.md", 4),
        ("note", "memory/2026-11-20.md", 1),
        ("note", "memory/2026-11-20.md", 3),
    ]


async def remember(memories: Memories, first: int, text: str) -> Opened:
    moment = "2026-11-20T09:00:00.000Z"
    opened = await memories.open("pond:workspace", "web:ann", fence=first + 1, nonce=str(first))
    entry = HistoryEntry(time=moment, session="web:ann", first=first, upto=first + 2, kind="summary", text=text)
    update = Version(kind="consolidation", time=moment, text=f"# Facts\n\nThere are {first} ducks.\n")
    applied = await memories.apply(opened, entry, mark=str(first), update=update)
    note = Note(time=moment, date="2026-11-20", session="web:ann", cycle=first, text=f"note {first}")
    return (await memories.append(applied.opened, None, cycle=first, notes=[note])).opened


async def test_a_place_has_the_name_that_the_builtin_engine_gives_it(process: Process) -> None:
    memories = Memories(process.bus)
    for number in range(3):
        text = f"[2026-11-20 09:0{number}] USER: It rains.\n\n[2026-11-20 10:00] ASSISTANT: " + "Take a coat. " * 60
        await remember(memories, 2 * number, text)
    builtin = BuiltinEngine(SessionBook(process.bus), memories, process.transcripts, process.data_dir, process.clock)
    assert await builtin.catch_up("pond:workspace", within_s=HANG_S)
    chunks = await MemorySource(memories).chunks("pond:workspace")

    places = await builtin.places("pond:workspace", [chunk.docid for chunk in chunks])
    await builtin.aclose()

    assert {docid: (place.file, place.first) for docid, place in places.items()} == {
        chunk.docid: (chunk.file, chunk.first) for chunk in chunks
    }
    assert len(places) > 10


async def test_the_hook_of_forgetting_takes_it_away(ready: QmdEngine, bus: Bus, data: Path) -> None:
    failed: list[str] = []
    work = SimpleNamespace(stores=SimpleNamespace(bus=bus, data_dir=data), looks=True, fail=failed.append)
    order, ground = SimpleNamespace(scopes=()), SimpleNamespace(all=(("web:ann", SCOPE),))
    await forget_in_indexes(work, order, ground)
    assert holds(data, "Mia"), "it was only looked"
    work.looks = False

    await forget_in_indexes(work, order, ground)

    assert not holds(data, "Mia")
    assert failed == []


def with_qmd(process: Process, program: str) -> Process:
    search = MemorySearchConfig(backend="qmd", qmd=program)
    return replace(process, config=msgspec.structs.replace(process.config, memory_search=search))


async def test_a_process_configured_for_it_asks_it(process: Process, qmd: Installed) -> None:
    process = with_qmd(process, qmd.program)
    await remember(Memories(process.bus), 0, "[2026-11-20 09:00] USER: Mia plays the cello.")
    async with anyio.create_task_group() as tg:
        tg.start_soon(process.recaller.run)
        process.recaller.wrote("pond:workspace")
        with anyio.fail_after(HANG_S):
            while not any("lex: cello" in call["words"][2] for call in qmd.told("query")):
                found = await process.recaller.search("pond:workspace", "Who plays the cello?")
                await anyio.sleep(0.01)
        tg.cancel_scope.cancel()
    await process.recaller.aclose()

    assert "cello" in found.hits[0].snippet


async def test_a_consolidation_reports_it(process: Process, lab: Lab, qmd: Installed, monkeypatch: pytest.MonkeyPatch):
    wrote: list[str] = []
    monkeypatch.setattr(QmdEngine, "wrote", lambda _self, scope: wrote.append(scope))
    small = replace(process, config=small_window(process.config))
    memory = MemoryLab(with_qmd(small, qmd.program), lab, Summaries())
    await memory.talk(6)

    await memory.consolidator.consolidate(memory.session, ConsolidationRequest(at="now"))

    assert set(wrote) == {"pond:workspace"}


async def test_the_doctor_tries_it(qmd: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def found(program: str, mode: Mode = "search") -> list[tuple[str, str]]:
        config = MemorySearchConfig(backend="qmd", qmd=program, mode=mode)
        return [(each.state, each.text) for each in await examine_search(config)]

    assert [each.state for each in await examine_search(MemorySearchConfig())] == ["ok"]
    [(state, text)] = await found(qmd.program)
    assert (state, text.partition("(")[0]) == ("ok", "QMD 2.8.3 ")
    assert [state for state, _ in await found(qmd.program, "query")] == ["ok", "warning"]
    [(state, text)] = await found(str(tmp_path / "none"))
    assert state == "warning"
    assert INSTALL in text
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert "the program qmd was not found on the PATH" not in str(await found("qmd")), "it lies there"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "the program qmd was not found on the PATH" in str(await found(""))


@pytest.mark.parametrize(
    ("version", "told"), [("v20.20.2", "QMD needs 22 or newer"), ("v24.1.0", "Node.js is v24.1.0")]
)
async def test_the_doctor_says_which_node_it_dies_under(
    qmd: Installed, tmp_path: Path, version: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "node" / "node"
    node.parent.mkdir()
    node.write_text(f"#!/bin/sh\necho {version}\n")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(node.parent), prepend=":")
    qmd.misbehaves(collection="crash")

    [found] = await examine_search(MemorySearchConfig(backend="qmd", qmd=qmd.program))

    assert found.state == "warning"
    assert "SIGSEGV" in found.text
    assert told in found.text
    assert INSTALL in found.text

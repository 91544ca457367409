"""What recall relies on of the program ``qmd``, of its fake and of the real one alike: so the fake cannot lie."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from daemon.recall import InPrompt, Mode, SearchResults
from daemon.recall.qmd import Failed, Qmd, QmdEngine, State, probed, qmd_commands, remove_index
from daemon.recall.qmd.qmd_store import QmdStore
from daemon.scope import folder_of
from tests.fakes.qmd import install
from tests.integration import test_qmd
from tests.tables import each_row

pytestmark = pytest.mark.timeout(300)

SCOPE = test_qmd.SCOPE
TRAINS = (
    "[2026-05-07 12:00] USER: We take the train to Bern, the train at noon.",
    "[2026-05-08 12:00] USER: The train to Geneva was late.",
)
NODE_OLDEST = 22


def the_real_one() -> str:
    """Its path; skips the test where it cannot run."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node.js here, but QMD needs 22 or newer")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.removeprefix("v").partition(".")[0]) < NODE_OLDEST:
        pytest.skip(f"Node.js is version {version}, but QMD needs {NODE_OLDEST} or newer")
    if (qmd := shutil.which("qmd")) is None:
        pytest.skip("QMD is not installed: npm install -g @tobilu/qmd")
    return qmd


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.qmd)])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return install(tmp_path / "bin").program if request.param == "fake" else the_real_one()


class Nothing:
    """A built-in engine that finds nothing: what is found is QMD's."""

    async def search(
        self, scope: str, query: str, *, mode: Mode, limit: int, prompt: InPrompt | None = None
    ) -> SearchResults:
        return SearchResults()


class Remembered(test_qmd.Remembered):
    def __init__(self) -> None:
        super().__init__()
        self.texts += TRAINS

    async def state(self, scope: str, known: State) -> State:
        return State(text=str(self.texts))


@pytest.fixture
def memory() -> Remembered:
    return Remembered()


@pytest.fixture
async def engine(program: str, memory: Remembered, tmp_path: Path) -> QmdEngine:
    engine = QmdEngine(Nothing(), memory, tmp_path, program=program)
    engine._upkeep.worked("search")
    assert await engine.bring_in_step(SCOPE) == ""
    return engine


async def ask(engine: QmdEngine, query: str) -> list[str]:
    found = await engine.search(SCOPE, query, mode="search", limit=3)
    assert found.note == ""
    return [hit.snippet for hit in found.hits]


async def test_a_probe_finds_that_it_works(program: str) -> None:
    found = await probed(program)

    assert found.why == ""
    assert re.fullmatch(r"\d+\.\d+\.\d+", found.version)


@each_row(
    ("query", "text"),
    [
        ("What is my daughter's name?", "Mia"), ("Which school does Mia go to, in which city?", "Basel"),
        ("我的女儿叫什么名字", "小雨"), ("怎么配置代理", "7890"), ("which version has the invoice tool", "v2.3.1"),
        ("v2.3.1", "v2.3.1"), ("user_id", "user_id"), ("user-id?", "user_id"),
    ],
)  # fmt: skip
async def test_plain_questions_find_their_answer(engine: QmdEngine, query: str, text: str) -> None:
    best = (await engine.search(SCOPE, query, mode="search", limit=3)).hits[0]

    assert text in best.snippet
    assert (best.score, best.file, best.time[:9]) == (1.0, "memory/HISTORY.md", "2026-05-0")


async def test_what_more_words_find_scores_higher(engine: QmdEngine) -> None:
    found = await engine.search(SCOPE, "train geneva late", mode="search", limit=3)

    first, second = found.hits
    assert (first.score, second.score) == (1.0, pytest.approx(0.33, abs=0.05))
    assert "Geneva" in first.snippet


async def test_strange_questions_break_nothing(engine: QmdEngine) -> None:
    for query in ('"', "-", "🦆", "NOT AND (", "lex: vec:", "x" * 5_000, "*", "' OR 1=1 --", "--help", "-n 3"):
        await ask(engine, query)
    for query in ("", "?!…", "\0\0", "x" * 100_000, "\ud800", "lex:"):
        assert await ask(engine, query) == []


async def test_an_update_takes_in_what_is_new_and_drops_what_is_gone(engine: QmdEngine, memory: Remembered) -> None:
    memory.texts[0] = "[2026-05-03 10:00] USER: We bought a canary."

    assert await engine.bring_in_step(SCOPE) == ""

    assert "canary" in (await ask(engine, "canary"))[0]
    assert await ask(engine, "Mia daughter") == []


async def test_an_empty_memory_is_searched_too(engine: QmdEngine, memory: Remembered) -> None:
    memory.texts = []
    assert await engine.bring_in_step(SCOPE) == ""

    assert await ask(engine, "Mia") == []


async def test_a_damaged_index_is_made_anew(engine: QmdEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("daemon.recall.qmd.index_upkeep.REST_MIN_S", 0.0)
    [index] = (QmdStore(tmp_path).folder(SCOPE) / "qmd").glob("*.sqlite")
    for beside in index.parent.glob("*.sqlite-*"):
        beside.unlink()
    index.write_bytes(b"\x00\xff" * 10_000)

    note = (await engine.search(SCOPE, "Mia", mode="search", limit=3)).note
    assert await engine.bring_in_step(SCOPE) == ""

    assert "qmd failed with status 1" in note
    assert "Mia" in (await ask(engine, "Mia"))[0]


async def test_searches_and_updates_at_once_get_their_answers(engine: QmdEngine, memory: Remembered) -> None:
    memory.texts.append("[2026-05-09 12:00] USER: We bought a canary.")
    answers: list[list[str]] = []

    async def one() -> None:
        answers.append(await ask(engine, "daughter"))

    async with anyio.create_task_group() as tg:
        tg.start_soon(engine.bring_in_step, SCOPE)
        for _ in range(4):
            tg.start_soon(one)

    assert ["Mia" in answer[0] for answer in answers] == [True] * 4


async def test_all_of_it_lies_in_one_folder_and_goes_with_it(engine: QmdEngine, tmp_path: Path) -> None:
    await ask(engine, "Mia")
    await to_thread.run_sync(remove_index, tmp_path, SCOPE)

    left = [path for path in (tmp_path / "qmd").rglob("*") if path.is_file()]
    assert [path for path in left if b"Mia" in path.read_bytes() or folder_of(SCOPE) in str(path)] == []


async def test_an_answer_looks_as_it_is_read(engine: QmdEngine, program: str, tmp_path: Path) -> None:
    known = QmdStore(tmp_path).known(SCOPE)
    assert known
    words = (
        "lex: train\nlex: geneva", "--no-rerank", "--explain", "--format", "json", "-n", "5", "-c",
        qmd_commands.COLLECTION,
    )  # fmt: skip

    qmd = Qmd(QmdStore(tmp_path).folder(SCOPE), program)
    rows: list[dict[str, Any]] = json.loads(await qmd.run(known.told.index, "query", *words, within_s=60))

    assert [row["score"] for row in rows] == [1, 0.5]
    for row in rows:
        assert row.keys() >= {"docid", "score", "file", "line", "title", "snippet", "explain"}
        assert re.fullmatch(rf"qmd://zqm/zq[0-9a-f]{{20}}\.md\?index={known.told.index}", row["file"])
        assert row["explain"].keys() >= {"vectorScores", "rrf"}
        for found in row["explain"]["rrf"]["contributions"]:
            assert found.keys() >= {"weight", "rrfContribution", "query"}
    first = rows[0]["explain"]["rrf"]["contributions"]
    assert [found["weight"] for found in first] == [2, 1]
    assert first[0]["rrfContribution"] in (pytest.approx(2 / 61), pytest.approx(2 / 62))


async def test_what_it_refuses_it_refuses_with_a_status(program: str, engine: QmdEngine, tmp_path: Path) -> None:
    known = QmdStore(tmp_path).known(SCOPE)
    assert known
    qmd = Qmd(QmdStore(tmp_path).folder(SCOPE), program)

    for lines in ('lex: "half', "lex:", "vec: not -this"):
        with pytest.raises(Failed, match="status 1"):
            await qmd_commands.search(qmd, known.told.index, lines, mode="search", limit=3, within_s=60)
    with pytest.raises(Failed, match="status 1"):
        await qmd.run("no-index", "query", "lex: a", "--format", "json", "-c", qmd_commands.COLLECTION, within_s=60)
    with pytest.raises(Failed, match="status 1"):
        await qmd_commands.begin(qmd, known.told.index, tmp_path)

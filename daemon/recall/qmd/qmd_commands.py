"""The commands of QMD: queries, results, and a test with a real search.

A line of words is found only where all of them stand, and a question in plain words almost nowhere; so every word has a
line of its own, and QMD joins what it finds by each. A line of plain text would have models read first.

Asking for its version says nothing: under an older Node.js that is answered, and every search crashes.
"""

import math
import re
import shutil
import tempfile
import time
import unicodedata
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote

import anyio
import msgspec
from anyio import to_thread

from daemon.recall.qmd.qmd_program import PROGRAM, Failed, Qmd
from daemon.recall.search_results import Mode
from daemon.recall.word_forms import ABOUT_TALKING, ENGLISH, SIGNS, content_of

# Queries for QMD: typed lines with one word each. Pure.

WORDS_MAX = 24
"""Words that are asked for; each is a search of its own."""

WORD_MAX_CHARS = 64

QUESTION_MAX_CHARS = 4_000
"""Of a longer question this much is looked at: its beginning and its end, half each."""

MEANT_MAX_CHARS = 500
"""Of what is to become one vector."""

_words = re.compile(rf"[{SIGNS}]+|[^\W_{SIGNS}](?:[\w.'’-]*\w)?").findall
_is_run = re.compile(f"[{SIGNS}]").match
_POSSESSIVE = re.compile(r"['’]s?$")
_BLANKS = re.compile(r"\s+")
_EXCLUDED = re.compile(r"(?<!\S)-+(?=\S)")
"""QMD takes it for an exclusion, and refuses that in what is to become a vector."""


def typed_lines(query: str, mode: Mode) -> str:
    """The lines for a message or question; empty if it contains no search terms."""
    plain = _plain(query)
    lines = [f"lex: {word}" for word in asked_words(plain)] if mode != "vsearch" else []
    if mode != "search" and (meant := _meant(plain)):
        lines.append(f"vec: {meant}")
    return "\n".join(lines)


def asked_words(text: str) -> list[str]:
    """The meaningful words, longest first. QMD gives double weight to the first.

    When all of them are such as stand everywhere, those; at most ``WORDS_MAX``.
    """
    said, rest = dict[str, None](), dict[str, None]()
    for word in _words(text):
        if _is_run(word):
            said |= dict.fromkeys(pair for piece in content_of(word) for pair in _pairs(piece))
            rest |= dict.fromkeys(_pairs(word))
        else:
            # QMD keeps an apostrophe, and finds then what has one too.
            low = _POSSESSIVE.sub("", word.casefold())[:WORD_MAX_CHARS]
            (rest if _is_stop(low) else said)[low] = None
    # sorted() keeps the order of those that are as long.
    return sorted(said or rest, key=len, reverse=True)[:WORDS_MAX]


def _pairs(run: str) -> list[str]:
    """QMD finds a run of Chinese as it stands or not at all; what is asked need not stand there so."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _is_stop(low: str) -> bool:
    bare = low.replace("'", "").replace("’", "")
    return bare in ENGLISH or bare in ABOUT_TALKING


def _plain(query: str) -> str:
    half = QUESTION_MAX_CHARS // 2
    text = query if len(query) <= QUESTION_MAX_CHARS else f"{query[:half]} {query[-half:]}"
    # Arguments of a program hold no null bytes, and no halves of characters.
    shown = "".join(
        char if unicodedata.category(char)[0] != "C" else " " for char in unicodedata.normalize("NFKC", text)
    )
    return _BLANKS.sub(" ", shown).strip()


def _meant(plain: str) -> str:
    text = _EXCLUDED.sub("", plain)[:MEANT_MAX_CHARS].strip()
    return text if any(char.isalnum() for char in text) else ""


# Results of QMD. Pure. Every value is checked before it is used.

PARSED_ROWS_MAX = 1_000
"""Of an answer that is far longer than was asked for."""


class _Contribution(msgspec.Struct, frozen=True, rename="camel"):
    """A line's by which a document was found."""

    rrf_contribution: float = 0.0
    """How high it stands in the line's list."""
    weight: float = 1.0
    """The first line's counts double, which says nothing of how much was found."""


class _Rrf(msgspec.Struct, frozen=True, rename="camel"):
    contributions: tuple[_Contribution, ...] = ()

    @property
    def found_by(self) -> float:
        """The approximate number of matching lines."""
        return sum(_bounded(each.rrf_contribution / each.weight) for each in self.contributions if each.weight > 0)


class _Explained(msgspec.Struct, frozen=True, rename="camel"):
    vector_scores: tuple[float, ...] = ()
    """How near it is to each line that became a vector: cosines."""
    rrf: _Rrf = _Rrf()


class _Row(msgspec.Struct, frozen=True):
    file: str
    """``qmd://<collection>/<path>``, maybe ``?index=<index>`` behind it."""
    score: float
    explain: _Explained = _Explained()


_decode = msgspec.json.Decoder(list[_Row]).decode
_list = re.compile(rb"^\[\s*\]\s*?$|^\[[ \t\r]*$.*?^\]\s*?$", re.MULTILINE | re.DOTALL).search
"""QMD prints it with an indent: its brackets alone begin their lines."""


class QmdResult(msgspec.Struct, frozen=True):
    """A document that was found."""

    name: str
    """Of its file, without folders and ending."""
    score: float
    """0 to 1."""


def ranked(out: bytes, mode: Mode) -> list[QmdResult]:
    """The documents in a result, best first.

    Raises:
        Failed: it is no such answer.
    """
    try:
        rows = _decode(_json_of(out))[:PARSED_ROWS_MAX]
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Failed(f"qmd returned no valid results ({len(out):,} bytes)") from error
    scores = _scores(rows, mode)
    found = dict[str, QmdResult]()
    for row, score in zip(rows, scores, strict=True):
        name = _name(row.file)
        found.setdefault(name, QmdResult(name, score))
    return list(found.values())


def _json_of(out: bytes) -> bytes:
    """The list in what was said: what runs models may talk before and behind it."""
    found = _list(out)
    return found[0] if found else out


def _scores(rows: list[_Row], mode: Mode) -> list[float]:
    """By words, relative to the best: QMD's own is one by the place, and says nothing more.

    By meaning, how near it is; by both, what the model that has read them says.
    """
    if mode == "search":
        best = max((row.explain.rrf.found_by for row in rows), default=0.0)
        found = [row.explain.rrf.found_by / best if best else 1.0 for row in rows]
    elif mode == "vsearch":
        found = [_bounded(max(row.explain.vector_scores, default=row.score)) for row in rows]
    else:
        found = [_bounded(row.score) for row in rows]
    # Their order is QMD's: a score never rises.
    return list(accumulate(found, min))


def _bounded(score: float) -> float:
    return min(max(score, 0.0), 1.0) if math.isfinite(score) else 0.0


def _name(file: str) -> str:
    path = unquote(file.partition("?")[0])
    return path.rpartition("/")[2].removesuffix(".md")


# The commands of QMD that Millpond uses, with a function for each.

COLLECTION = "zqm"
"""What every index calls its only collection. QMD looks for words in it too, so it is one that nobody asks for."""

UPDATE_S = 300.0
"""How long an index may take to be brought in step: about 2 s for 1,000 documents on a slow machine."""

EMBED_SLICE_S = 120.0
"""How long making vectors goes on at a time; what was made until then is kept."""

ROWS_MAX = 40
"""QMD looks no further (its RERANK_CANDIDATE_LIMIT)."""

_FINISHED = re.compile(rb"already have embeddings|No non-empty documents")
_MADE = re.compile(rb"from (?:\x1b\[\d*m)*(\d+)(?:\x1b\[\d*m)* documents")


async def begin(qmd: Qmd, index: str, folder: Path) -> None:
    """Make the collection of an index, and let it read the folder. Errors as for ``Qmd.run``."""
    words = ("add", str(folder), "--name", COLLECTION, "--mask", "**/*.md")
    await qmd.run(index, "collection", *words, within_s=UPDATE_S)


async def update(qmd: Qmd, index: str) -> None:
    """Let it read the folder again. Errors as for ``Qmd.run``."""
    await qmd.run(index, "update", within_s=UPDATE_S)


async def embed(qmd: Qmd, index: str) -> int:
    """Make vectors of some documents: of how many; 0: all have theirs.

    Raises:
        Failed: as for ``Qmd.run``; none was made, as while another process of QMD is at it.
    """
    minutes = str(round(EMBED_SLICE_S / 60))
    out = await qmd.run(index, "embed", "-c", COLLECTION, "--timeout", minutes, within_s=1.5 * EMBED_SLICE_S)
    if _FINISHED.search(out):
        return 0
    made = _MADE.search(out)
    if made is None or int(made[1]) == 0:
        raise Failed("qmd created no vectors")
    return int(made[1])


async def search(qmd: Qmd, index: str, lines: str, *, mode: Mode, limit: int, within_s: float) -> list[QmdResult]:
    """The documents that typed lines find, the best first. Errors as for ``Qmd.run`` and ``ranked``."""
    # Not `search` and `vsearch`: one finds documents with every word alone, the other has a model reword the question.
    rerank = () if mode == "query" else ("--no-rerank",)
    words = (lines, *rerank, "--explain", "--format", "json", "-n", str(min(limit, ROWS_MAX)), "-c", COLLECTION)
    return ranked(await qmd.run(index, "query", *words, within_s=within_s), mode)


# Tests with a real search whether QMD works.

PROBE_S = 20.0
"""How long the search may take; it takes 0.2 s, and much longer on a machine that has just started."""

INDEX, NAME, TEXT = "probe", "zqprobe", "Millpond uses this sentence to check whether the search works.\n"

_VERSION = re.compile(rb"\d+(?:\.\d+)+[\w.-]*")


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of the test."""

    path: str = ""
    """Of the program; empty: it is not installed."""
    version: str = ""
    """Empty: it does not say."""
    took_s: float = 0.0
    """Of the search alone."""
    why: str = ""
    """Why it does not work; empty: it does."""
    said: str = ""
    """The end of what it complained of, about nothing but the probe."""


async def probed(program: str = PROGRAM) -> ProbeResult:
    """Search a temporary folder with QMD."""
    folder = Path(await to_thread.run_sync(tempfile.mkdtemp, None, "millpond-qmd-"))
    try:
        return await _probed(Qmd(folder, program))
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))


async def _probed(qmd: Qmd) -> ProbeResult:
    path, version = await to_thread.run_sync(qmd.found), ""
    try:
        said = _VERSION.search(await qmd.run(INDEX, "--version", within_s=PROBE_S))
        version = said[0].decode() if said else ""
        await to_thread.run_sync(_write, qmd.root / "documents")
        await begin(qmd, INDEX, qmd.root / "documents")
        began = time.monotonic()
        found = await search(qmd, INDEX, "lex: millpond", mode="search", limit=1, within_s=PROBE_S)
        took_s = time.monotonic() - began
    except Failed as error:
        return ProbeResult(path=path, version=version, why=str(error), said=error.said)
    except OSError as error:
        return ProbeResult(path=path, version=version, why=f"the test file cannot be written: {error.strerror}")
    if [each.name for each in found] != [NAME]:
        return ProbeResult(path=path, version=version, why="qmd did not find the test file")
    return ProbeResult(path=path, version=version, took_s=took_s)


def _write(folder: Path) -> None:
    folder.mkdir()
    (folder / f"{NAME}.md").write_text(TEXT)

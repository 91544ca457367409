"""Results of QMD. Pure. Every value is checked before it is used."""

import math
import re
from itertools import accumulate
from urllib.parse import unquote

import msgspec

from daemon.recall.qmd.qmd_program import Failed
from daemon.recall.search_results import Mode

ROWS_MAX = 1_000
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


class Ranked(msgspec.Struct, frozen=True):
    """A document that was found."""

    name: str
    """Of its file, without folders and ending."""
    score: float
    """0 to 1."""


def ranked(out: bytes, mode: Mode) -> list[Ranked]:
    """The documents in a result, best first.

    Raises:
        Failed: it is no such answer.
    """
    try:
        rows = _decode(_json_of(out))[:ROWS_MAX]
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Failed(f"qmd returned no valid results ({len(out):,} bytes)") from error
    scores = _scores(rows, mode)
    found = dict[str, Ranked]()
    for row, score in zip(rows, scores, strict=True):
        name = _name(row.file)
        found.setdefault(name, Ranked(name, score))
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

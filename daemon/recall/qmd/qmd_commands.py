"""The commands of QMD that Millpond uses, with a function for each."""

import re
from pathlib import Path

from daemon.recall.qmd.qmd_program import Failed, Qmd
from daemon.recall.qmd.qmd_results import Ranked, ranked
from daemon.recall.search_results import Mode

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


async def search(qmd: Qmd, index: str, lines: str, *, mode: Mode, limit: int, within_s: float) -> list[Ranked]:
    """The documents that typed lines find, the best first. Errors as for ``Qmd.run`` and ``ranked``."""
    # Not `search` and `vsearch`: one finds documents with every word alone, the other has a model reword the question.
    rerank = () if mode == "query" else ("--no-rerank",)
    words = (lines, *rerank, "--explain", "--format", "json", "-n", str(min(limit, ROWS_MAX)), "-c", COLLECTION)
    return ranked(await qmd.run(index, "query", *words, within_s=within_s), mode)

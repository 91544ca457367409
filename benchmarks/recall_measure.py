"""What part of the answers is found: the same for every search."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.recall_corpus import Life, Question
from daemon.clock import stamp
from daemon.recall import Chunk
from daemon.recall.chunks import history_chunks, lines_of, message_chunks

CUTS = (5, 10)
"""So many places are looked at, each with the one before and the one behind it."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question, and what came of it."""

    life: Life
    question: Question
    shares: tuple[float, ...]
    """Which part of its answers was found, for each of ``CUTS``."""
    empty: bool
    """Whether nothing at all was found."""


class Ground:
    """What there is to be found of a life: chunks, and which of them hold what."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.chunks = _chunks(life)
        order = sorted(range(len(self.chunks)), key=lambda number: _place(self.chunks[number]))
        self._ordered = [_place(self.chunks[number]) for number in order]
        self._at = {number: at for at, number in enumerate(order)}
        self._number = order
        self._by_docid = {chunk.docid: number for number, chunk in enumerate(self.chunks)}

    def numbers(self, docids: Iterable[str]) -> list[int]:
        """Of chunks that somebody names; what is not known is -1."""
        return [self._by_docid.get(docid, -1) for docid in docids]

    def asked(self, question: Question, found: Sequence[int]) -> Asked:
        """What came of a question, by the numbers of the chunks that were found, the best first."""
        wanted = [self.holding(sentences) for sentences in question.evidence]
        shares = [self._share(wanted, self._with_neighbours(found[:cut])) for cut in CUTS]
        return Asked(life=self.life, question=question, shares=tuple(shares), empty=not found)

    def holding(self, sentences: Iterable[str]) -> set[int]:
        """Numbers of the chunks that hold one of ``sentences``."""
        return {
            number for number, chunk in enumerate(self.chunks) if any(sentence in chunk.text for sentence in sentences)
        }

    @staticmethod
    def _share(wanted: Sequence[set[int]], shown: set[int]) -> float:
        return sum(bool(some & shown) for some in wanted) / len(wanted)

    def _with_neighbours(self, found: Iterable[int]) -> set[int]:
        shown = set[int]()
        for number in found:
            if number < 0:
                continue
            at = self._at[number]
            file = self.chunks[number].file
            beside = [self._number[near] for near in (at - 1, at, at + 1) if 0 <= near < len(self._number)]
            shown |= {near for near in beside if self.chunks[near].file == file}
        return shown


def _place(chunk: Chunk) -> tuple[str, int, int]:
    return chunk.file, chunk.first, chunk.part


def _chunks(life: Life) -> list[Chunk]:
    chunks, line = list[Chunk](), 1
    for index, message in enumerate(life.messages):
        speaker = life.name if message.role == "user" else "assistant"
        chunks += message_chunks(
            message.text, session=session_of(life), index=index, time=stamp(message.time), speaker=speaker
        )
    for entry in life.history:
        chunks += history_chunks(entry, line=line)
        line += lines_of(entry)
    return chunks


def session_of(life: Life) -> str:
    """The key of the session in which it was told."""
    return f"web:{life.language}-{life.number}"


def recall(asked: Sequence[Asked], cut: int) -> float:
    """Per cent of what was asked for that stood in the first ``cut`` places."""
    at = CUTS.index(cut)
    return 100 * sum(one.shares[at] for one in asked) / len(asked)

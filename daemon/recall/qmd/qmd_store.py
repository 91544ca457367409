"""The files of QMD on disk. All functions block.

All of a scope lies in ``qmd/scopes/<folder of the scope>`` below the data directory, and is a copy:

* ``documents``: a file for each chunk. QMD finds files and nothing smaller, so that of a history in a single file it
  would find that, whatever is asked.
* ``qmd/<index>.sqlite`` and ``config/<index>.yml``: its index and its collection, written by QMD.
* ``told.json``: what the index was told, and its name; written when it had been told all of it. An index that is made
  anew has a new name: SQLite deletes by name when it closes a file, and would take away what is a younger one's.

Whoever changes any of it holds the lock of the scope's folder. ``qmd/models`` is what QMD has fetched, for all scopes.
"""

import datetime as dt
import hashlib
import os
import secrets
import shutil
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import msgspec
from anyio import to_thread

from daemon.durable import FOLDER_MODE, folder_below, folder_lock, private_folder
from daemon.memory import HistoryEntry, Memories, Note
from daemon.recall.chunks import FORGOTTEN, Chunk, history_chunks, lines_of, memory_chunks, note_chunks, said
from daemon.recall.index.passages import snippet_of
from daemon.recall.search_results import SNIPPET_CHARS, Hit
from daemon.scope import folder_of

# The passages that QMD indexes, and the detection of changes.


class State(msgspec.Struct, frozen=True, kw_only=True):
    """The version of a memory."""

    forgets: int = 0
    """How often something of it was forgotten."""
    text: str = ""
    """A hash of MEMORY.md."""
    history: int = 0
    """How many entries it has."""
    notes: int = 0
    """How many."""


class PassageSource(Protocol):
    """Provides passages. Errors are those of ``Memories``."""

    async def state(self, scope: str, known: State) -> State:
        """How far the memory of a home is; ``known`` is how far it was, and saves work."""
        ...

    async def chunks(self, scope: str) -> Sequence[Chunk]:
        """All of it, each place with the docid that the built-in engine gives it."""
        ...


class MemorySource:
    """MEMORY.md, the history and the notes: what lies as files in the workspace."""

    def __init__(self, memories: Memories, *, zone_of: Callable[[str], dt.tzinfo] = lambda _scope: dt.UTC) -> None:
        """Nothing is asked yet; ``zone_of``: by scope, the zone in which its history says its times."""
        self._memories = memories
        self._zone_of = zone_of

    async def state(self, scope: str, known: State) -> State:
        """As ``PassageSource``."""
        current = await self._memories.current(scope)
        history = await self._memories.history(scope, first=known.history)
        notes = await self._memories.notes(scope, first=known.notes)
        return State(
            forgets=await self._memories.forgets(scope),
            text=hashlib.sha256(current.text.encode()).hexdigest()[:16],
            history=known.history + len(history),
            notes=known.notes + len(notes),
        )

    async def chunks(self, scope: str) -> Sequence[Chunk]:
        """As ``PassageSource``."""
        text = (await self._memories.current(scope)).text
        history, notes = await self._memories.history(scope), await self._memories.notes(scope)
        # It takes a second for 20,000 chunks.
        return await to_thread.run_sync(_chunks, text, history, notes, self._zone_of(scope))


def _chunks(text: str, history: Sequence[HistoryEntry], notes: Sequence[Note], zone: dt.tzinfo) -> list[Chunk]:
    found, line = memory_chunks(text), 1
    for entry in history:
        if not entry.lost:  # what the session has lost it may have said otherwise since
            found += history_chunks(entry.text, line=line, time=entry.time, zone=zone)
        line += lines_of(entry.text)
    lines = dict[str, int]()
    for note in notes:
        line = lines.get(note.date, 1)
        found += note_chunks(note.text, date=note.date, line=line, time=note.time, zone=zone)
        lines[note.date] = line + lines_of(note.text)
    return [chunk for chunk in found if chunk.text.replace(FORGOTTEN, "").strip(" -*\n")]


ROOT = "qmd"
"""Below the data directory."""

SCOPES, MODELS, DOCUMENTS, TOLD = "scopes", "models", "documents", "told.json"

FORM = 1
"""Of what is written here; what has another one is made anew."""

LOOKED_MAX = 16
"""Scopes whose ``told.json`` a process keeps, about 5 MB for 10,000 chunks."""

DELETE_WAIT_S = 10.0
"""How long whoever forgets waits for somebody who is at it."""

DELETE_TRIES = 5
"""How often a folder is deleted into which a running QMD may just be writing."""

_DRAFT = ".draft"
"""QMD passes over names that begin with a dot."""


class IndexedState(msgspec.Struct, frozen=True, kw_only=True):
    """What an index holds."""

    form: int = FORM
    index: str
    """Its name."""
    state: State = State()
    has_vectors: bool = False
    """Whether it can be asked by meaning: all documents that there were at some time have vectors."""
    is_embedded: bool = False
    """Whether all that there are have."""
    chunks: tuple[Chunk, ...] = ()
    """In the order of their places."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(IndexedState).decode


def name_of(chunk: Chunk) -> str:
    """What its document is called: another one for another place or another text.

    It begins with letters that no word does: QMD looks for words in names too.
    """
    place = f"{chunk.file}\0{chunk.first}\0{chunk.part}\0{document(chunk)}"
    return f"zq{hashlib.sha256(place.encode()).hexdigest()[:20]}"


def document(chunk: Chunk) -> str:
    """What QMD is given of a chunk: with what it is also found by."""
    beside = " ".join(filter(None, (chunk.time[:10], chunk.speaker)))
    heading = f"# {chunk.heading}\n" if chunk.heading else ""
    return f"{heading}{beside}\n\n{chunk.text}\n" if beside else f"{heading}\n{chunk.text}\n"


@dataclass(frozen=True)
class IndexedPassages:
    """What an index was told, by the names that QMD gives back."""

    told: IndexedState

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where a chunk stands in what was told, by the name of its document."""
        return {name_of(chunk): at for at, chunk in enumerate(self.told.chunks)}

    def hit(self, name: str, score: float) -> Hit | None:
        """What stands in a document, with what stands around it; None: it was told of no such document."""
        at = self.places.get(name)
        if at is None:
            return None
        chunk = self.told.chunks[at]
        return Hit(
            docid=chunk.docid,
            file=chunk.file,
            score=score,
            snippet=snippet_of(
                _said(chunk), self._beside(chunk, at - 1), self._beside(chunk, at + 1), most=SNIPPET_CHARS
            ),
            time=chunk.time,
        )

    def _beside(self, chunk: Chunk, at: int) -> list[str]:
        there = self.told.chunks[at] if 0 <= at < len(self.told.chunks) else None
        return [_said(there)] if there and there.file == chunk.file else []


def _said(chunk: Chunk) -> str:
    return said(chunk.text, speaker=chunk.speaker, part=chunk.part)


class QmdStore:
    """The scopes of one data directory."""

    def __init__(self, data_dir: Path) -> None:
        """Nothing is looked at yet."""
        self._root = data_dir.absolute() / ROOT
        self._looked: OrderedDict[str, tuple[tuple[int, int, int], IndexedPassages]] = OrderedDict()

    def folder(self, scope: str) -> Path:
        """Where all of it lies; it need not be there."""
        return self._root / SCOPES / folder_of(scope)

    def known(self, scope: str) -> IndexedPassages | None:
        """What the scope's index was told; None: there is none that could be asked."""
        path = self.folder(scope) / TOLD
        try:
            found = path.stat()
            looked = (found.st_ino, found.st_mtime_ns, found.st_size)
            if (cached := self._looked.get(scope)) is None or cached[0] != looked:
                cached = (looked, IndexedPassages(_decode(path.read_bytes())))
                _ = cached[1].places  # worked out here, in a thread: 30 ms for 10,000 chunks
        except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
            return None
        known = cached[1]
        if known.told.form != FORM or not self._is_there(scope, known.told.index):
            return None
        self._looked[scope] = cached
        self._looked.move_to_end(scope)
        while len(self._looked) > LOOKED_MAX:
            self._looked.popitem(last=False)
        return known

    def _is_there(self, scope: str, index: str) -> bool:
        folder = self.folder(scope)
        return (folder / "config" / f"{index}.yml").exists() and (folder / "qmd" / f"{index}.sqlite").exists()

    @contextmanager
    def held(self, scope: str, *, wait_s: float = 0.0) -> Generator[Path]:
        """The scope's folder, which nobody else changes meanwhile.

        Raises:
            TimeoutError: somebody else is at it.
            OSError: it cannot be made.
        """
        for _ in range(3):
            with (
                folder_below(self._root, SCOPES, folder_of(scope), make=True) as folder,
                folder_lock(folder, wait_s=wait_s),
            ):
                # Who had the lock before may have deleted it.
                if os.fstat(folder).st_ino == _inode(self.folder(scope)):
                    yield self.folder(scope)
                    return
        raise TimeoutError("another process keeps deleting the search index")

    def write(self, scope: str, chunks: Sequence[Chunk]) -> Path:
        """Bring the documents in step with ``chunks``; the folder that they lie in. The scope must be held.

        Raises:
            OSError: the disk is full, or broken.
        """
        folder = self.folder(scope) / DOCUMENTS
        private_folder(folder)
        wanted = {f"{name_of(chunk)}.md": chunk for chunk in chunks}
        there = {path.name for path in folder.iterdir()}
        for name in there - wanted.keys():
            (folder / name).unlink(missing_ok=True)
        for name in wanted.keys() - there:
            draft = folder / _DRAFT
            draft.write_text(document(wanted[name]), encoding="utf-8", errors="replace")
            draft.replace(folder / name)
        return folder

    def tell(self, scope: str, told: IndexedState) -> None:
        """Note what the index holds from now on. The scope must be held; errors as for ``write``."""
        path = self.folder(scope) / TOLD
        draft = path.with_name(_DRAFT)
        draft.write_bytes(_encode(told))
        draft.replace(path)

    def clear(self, scope: str) -> str:
        """Delete all but the folder itself, for an index that is called as this gives.

        The scope must be held; errors as for ``write``.
        """
        folder = self.folder(scope)
        # First what says that there is an index.
        (folder / TOLD).unlink(missing_ok=True)
        for found in sorted(folder.iterdir()):
            _delete(found)
        (self._root / MODELS).mkdir(mode=FOLDER_MODE, exist_ok=True)
        (folder / "qmd").mkdir(mode=FOLDER_MODE)
        (folder / "qmd" / MODELS).symlink_to(Path("..", "..", "..", MODELS))
        return secrets.token_hex(8)


def remove_index(data_dir: Path, scope: str) -> None:
    """Delete all that QMD was given of a scope, for whoever forgets; what remains to be found is given to it again.

    Raises:
        OSError: it could not be deleted, or somebody else has been at it for too long.
    """
    store = QmdStore(data_dir)
    if store.folder(scope).exists():
        with store.held(scope, wait_s=DELETE_WAIT_S):
            _delete(store.folder(scope))


def _delete(path: Path) -> None:
    for tries_left in reversed(range(DELETE_TRIES)):
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            continue
        except OSError:
            if not tries_left:
                raise
        else:
            return


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0

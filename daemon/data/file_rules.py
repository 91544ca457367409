"""Rules for the files of a memory, compared with Redis."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from anyio import to_thread

from daemon.data.backup_records import ScopeTaken, bytes_of, number
from daemon.data.flaw import Flaw
from daemon.durable import folder_below, names_in, plain_file
from daemon.errors import UNREADABLE, MillpondError
from daemon.memory.history_files import HISTORY, is_shown
from daemon.memory.memory_file import MEMORY, refusal
from daemon.memory.memory_files import bot_of, memory_folder
from daemon.memory.memory_records import HistoryEntry
from daemon.memory.sidecar import SideCar, checksum, read_side_car

ANEW = "Delete the file: Millpond writes the file again after the next message."

_decode_entry = msgspec.json.Decoder(HistoryEntry).decode


@dataclass
class _Folder:
    """The state of a memory's folder."""

    side: SideCar = field(default_factory=SideCar)
    history: bytes | None = None
    """The content of HISTORY.md; None if the file is missing or cannot be read."""
    problems: dict[str, str] = field(default_factory=dict[str, str])
    """By name of a file: why the file cannot be read, and the remedy."""


async def flaws_of_files(taken: ScopeTaken, workspace_of: Callable[[str], Path]) -> list[Flaw]:
    """Files that cannot be read, entries that HISTORY.md lacks, and versions that Redis has lost."""
    if taken.fields.get("joined"):
        return []
    try:
        workspace = workspace_of(bot_of(taken.name))
    except MillpondError:
        return []  # another process knows the bot
    where = workspace.joinpath(*memory_folder(taken.name))
    try:
        found = await to_thread.run_sync(_look, workspace, taken.name)
    except OSError as error:
        text = f"the folder cannot be read: {error.strerror}. Until this is corrected, Millpond cannot write files."
        return [Flaw(rule="files.readable", where=str(where), text=text)]
    flaws = [
        Flaw(
            rule="files.readable",
            where=str(where / name),
            text=f"{why}. Until the problem is corrected, Millpond does not use the file.",
        )
        for name, why in sorted(found.problems.items())
    ]
    return [*flaws, *_memory(taken, found.side, where), *_history(taken, found, where)]


def _look(workspace: Path, scope: str) -> _Folder:
    found = _Folder()
    try:
        with folder_below(workspace, *memory_folder(scope), make=False) as folder:
            for name in filter(is_shown, names_in(folder)):
                if why := refusal(folder) if name == MEMORY else _read(folder, name, found):
                    found.problems[name] = why
    except FileNotFoundError:
        return found
    return found


def _read(folder: int, name: str, found: _Folder) -> str:
    """The reason why a file cannot be read, with the remedy; empty if it can."""
    try:
        if name.startswith("."):
            found.side = read_side_car(folder)
            return ""
        with plain_file(folder, name) as descriptor, open(descriptor, "rb", closefd=False) as file:
            content = file.read()
        content.decode()
    except UnicodeDecodeError:
        return "the file is not UTF-8. Delete the file"
    except FileNotFoundError:
        return ""
    except PermissionError as error:
        return f"{error.strerror}. Correct the permissions of the file"
    except OSError as error:
        return f"{error.strerror}. Remove this entry"
    if name == HISTORY:
        found.history = content
    return ""


def _memory(taken: ScopeTaken, side: SideCar, where: Path) -> Iterator[Flaw]:
    version = number(taken.fields.get("version"))
    text = bytes_of(taken.fields.get("text", "")).decode("utf-8", "replace")
    if side.version > version:
        why = (
            f"the file MEMORY.md has version {side.version}, but the newest version in Redis is {version}: "
            "Redis lost the newest versions"
        )
    elif side.version and side.version == version and side.text and side.text != checksum(text.encode()):
        why = f"the file MEMORY.md and Redis both have version {version}, but the texts differ"
    else:
        return
    hint = "Run `millpond memory edit` to store the file's text again."
    yield Flaw(rule="files.memory", where=str(where), text=f"{why}. {hint}")


def _history(taken: ScopeTaken, found: _Folder, where: Path) -> Iterator[Flaw]:
    """A file that is shorter than Millpond wrote it is completed after the next message, so it breaks no rule."""
    size = found.side.sizes.get(HISTORY, 0)
    if found.history is None or len(found.history) < size or number(taken.fields.get("forgets")) != found.side.forgets:
        return
    base, lines, missing = number(taken.fields.get("history_base")), b"\n" + found.history + b"\n", 0
    for raw in taken.history[: max(0, found.side.history.count - base)]:
        try:
            text = _decode_entry(bytes_of(raw)).text
        except UNREADABLE:
            continue  # `memory.history` reports the entry
        missing += b"\n" + text.strip("\n").encode() + b"\n" not in lines
    if missing:
        text = f"{missing} entries of the history are missing from the file, because the file was changed. {ANEW}"
        yield Flaw(rule="files.history", where=str(where / HISTORY), text=text)

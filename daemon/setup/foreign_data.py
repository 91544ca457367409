"""Data of another program, found in its folders and never changed. All functions block.

nanobot keeps ``config.json`` beside ``workspace/``, in which ``memory/`` holds MEMORY.md and HISTORY.md, newer ones
``history.jsonl``. OpenClaw keeps ``openclaw.json`` beside a workspace with MEMORY.md at its top and a file a day in
``memory/``. Both have the same bootstrap files and skills as a workspace here.
"""

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, cast

import json5
from msgspec.structs import replace

from daemon.clock import MINUTE
from daemon.config import Secret
from daemon.config.secret import read_secret_file
from daemon.errors import ConfigError, InboundError
from daemon.memory import ForeignMemory
from daemon.setup.foreign_settings import Settings, nanobot_settings, openclaw_settings

Program = Literal["nanobot", "OpenClaw"]

BOOTSTRAP = ("AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md")
NOT_TAKEN = (
    *("sessions", "cron", "canvas", "prompts", "agents", "credentials"),
    *("HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md"),
)
"""Other files there, for which Millpond has no equivalent."""

FILE_MAX_BYTES = 1_000_000
"""As large as MEMORY.md may be."""
HISTORY_MAX_BYTES = 50_000_000
SKILL_FILES_MAX = 2_000
"""Files of all skills together."""
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv"})

_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[-_ ].*)?\.md")
_ENTRY = re.compile(rf"(?m)^(?=\[{MINUTE}\])")


@dataclass(kw_only=True)
class ForeignData:
    """Everything that was found of another program."""

    program: Program
    workspace: Path
    settings: Settings = field(default_factory=Settings)
    bootstrap: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Files by their names."""
    skills: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """Files by their paths below ``skills/``."""
    remembered: ForeignMemory = field(default_factory=ForeignMemory)
    left: list[str] = field(default_factory=list[str])
    """Data that is not imported, a line each."""


def find(folder: Path, environ: Mapping[str, str]) -> ForeignData:
    """The data in ``folder``: the folder of a nanobot or an OpenClaw, or the workspace in it.

    Raises:
        InboundError: there is neither.
    """
    folder = folder.expanduser()
    if not folder.is_dir():
        raise InboundError(f"--from {folder}: the folder was not found. Correct the path.")
    program, config, workspace = _layout(folder)
    found = ForeignData(program=program, workspace=workspace)
    if config is not None:
        found.settings = _settings(program, config, environ, found.left)
    _read_workspace(found)
    _name_the_rest(found, config.parent if config else workspace)
    return found


# Which program's, and where


def _layout(folder: Path) -> tuple[Program, Path | None, Path]:
    # The folder of everything, or the workspace in it.
    for place in (folder, folder.parent):
        for name in ("openclaw.json", "clawdbot.json", "moltbot.json"):
            if (config := place / name).is_file():
                return "OpenClaw", config, folder if place != folder else _named(config, ("agents", "agent"), place)
        if _is_nanobot(config := place / "config.json"):
            return "nanobot", config, folder if place != folder else _named(config, ("agents",), place)
    workspace = folder / "workspace" if (folder / "workspace").is_dir() else folder
    memory = workspace / "memory"
    if any((memory / name).is_file() for name in ("MEMORY.md", "HISTORY.md", "history.jsonl")):
        return "nanobot", None, workspace
    if (workspace / "MEMORY.md").is_file() or any(True for _ in _days(memory)) or (workspace / "SOUL.md").is_file():
        return "OpenClaw", None, workspace
    raise InboundError(
        f"--from {folder}: the folder contains no nanobot (~/.nanobot) or OpenClaw (~/.openclaw) installation. "
        "Specify the folder that contains config.json or openclaw.json, or specify the workspace."
    )


def read_json5(text: str) -> dict[str, object]:
    """The object that ``text`` holds as JSON or JSON5; an empty one for any other value.

    Raises:
        ValueError: it is neither.
    """
    try:
        try:
            value: object = json.loads(text)
        except ValueError:
            value = json5.loads(text)  # takes a hundred times as long
    except RecursionError as error:
        raise ValueError from error  # nested too deep
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _is_nanobot(config: Path) -> bool:
    try:
        tables = read_json5(config.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return "agents" in tables and ("providers" in tables or "channels" in tables)


def _named(config: Path, sections: tuple[str, ...], place: Path) -> Path:
    """The workspace that a configuration names, if it is there, else the usual one."""
    try:
        tables = read_json5(config.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        tables = {}
    for section in sections:
        inner = _table(tables.get(section))
        listed = inner.get("list")
        agents = [_table(each) for each in cast("list[object]", listed)] if isinstance(listed, list) else []
        # Of several the one that is asked when nobody is named.
        agents.sort(key=lambda agent: agent.get("default") is not True)
        for holder in (*agents[:1], _table(inner.get("defaults")), inner):
            named = holder.get("workspace")
            if isinstance(named, str) and (found := Path(named).expanduser()).is_dir():
                return found
    return place / "workspace" if (place / "workspace").is_dir() else place


def _settings(program: Program, config: Path, environ: Mapping[str, str], left: list[str]) -> Settings:
    try:
        tables = read_json5(config.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        left.append(f"{config.name}: the file cannot be read")
        return Settings()
    if program == "nanobot":
        return nanobot_settings(tables, environ)
    found = openclaw_settings(tables, environ)
    if found.token is None and found.token_file:
        try:
            # What follows a / is taken as it is when it is absolute.
            file = config.parent / Path(found.token_file).expanduser()
            return replace(found, token=Secret(read_secret_file(file)[0]))
        except (ConfigError, RuntimeError):
            left.append(f"{found.token_file}: the token file cannot be read")
    return found


# The workspace


def _read_workspace(found: ForeignData) -> None:
    workspace = found.workspace
    memory = _folder(workspace / "memory", found.left)
    for name in BOOTSTRAP:
        if content := _content(workspace / name, found.left):
            found.bootstrap[name] = content
    texts = [_text(path, found.left) for path in (workspace / "MEMORY.md", memory / "MEMORY.md")]
    history = _text(memory / "HISTORY.md", found.left, HISTORY_MAX_BYTES)
    journal = _text(memory / "history.jsonl", found.left, HISTORY_MAX_BYTES)
    notes = [(day, text.strip()) for day, path in _days(memory) if (text := _text(path, found.left)).strip()]
    found.remembered = ForeignMemory(
        memory="\n\n".join(dict.fromkeys(text.strip() for text in texts if text.strip())),
        history=(*history_entries(history), *journal_entries(journal)),
        notes=tuple(sorted([*notes, *_topics(memory, found.left)])),
    )
    _read_skills(found)


def history_entries(text: str) -> Iterator[str]:
    """The entries of a HISTORY.md, each of which begins with a line ``[YYYY-MM-DD HH:MM] …``."""
    for entry in _ENTRY.split(text):
        stripped = entry.strip()
        # What stands before the first entry is a heading.
        if stripped and _ENTRY.match(stripped):
            yield stripped


def journal_entries(text: str) -> Iterator[str]:
    """The entries of a history.jsonl, as they stand in a HISTORY.md; lines that cannot be read are left out."""
    for line in text.splitlines():
        try:
            entry: object = json.loads(line)
        except (ValueError, RecursionError):
            continue
        fields = _table(entry)
        content, at = fields.get("content"), str(fields.get("timestamp") or "")[:16].replace("T", " ")
        if isinstance(content, str) and content.strip():
            stamp = at if re.fullmatch(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}", at) else ""
            said = content.strip()
            yield said if not stamp or _ENTRY.match(said) else f"[{stamp}] {said}"


def _folder(path: Path, left: list[str]) -> Path:
    """``path``, or a folder that never exists if it is a link, which may lead anywhere on this machine."""
    if not path.is_symlink():
        return path
    left.append(f"{path.name}: this is a symbolic link. Pass the link's target to --from, or copy the files yourself")
    return path / ".none"


def _days(memory: Path) -> Iterator[tuple[str, Path]]:
    for path in _files(memory):
        if named := _DAY.fullmatch(path.name):
            try:
                datetime.strptime(named[1], "%Y-%m-%d").replace(tzinfo=UTC)
            except ValueError:
                continue
            yield named[1], path


def _topics(memory: Path, left: list[str]) -> Iterator[tuple[str, str]]:
    """Other Markdown of the memory: a note of the day on which it was written last."""
    for path in _files(memory):
        is_other = path.suffix == ".md" and path.name not in ("MEMORY.md", "HISTORY.md")
        if is_other and not _DAY.fullmatch(path.name) and (text := _text(path, left).strip()):
            day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
            yield day, f"{path.stem}:\n\n{text}"


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
    except OSError:
        return []


def _read_skills(found: ForeignData) -> None:
    root = _folder(found.workspace / "skills", found.left)
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if len(found.skills) >= SKILL_FILES_MAX:
                found.left.append(
                    f"skills: only the first {SKILL_FILES_MAX:,} files are copied. Copy the other files yourself"
                )
                return
            if (content := _content(path, found.left)) is not None and path.parent != root:
                found.skills[path.relative_to(root).as_posix()] = content


def _name_the_rest(found: ForeignData, root: Path) -> None:
    for place in dict.fromkeys((root, found.workspace)):
        for name in NOT_TAKEN:
            if (place / name).exists():
                found.left.append(
                    f"{name}: Millpond has no equivalent" if name != "sessions" else "sessions: whole conversations"
                )


def _table(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _text(path: Path, left: list[str], most: int = FILE_MAX_BYTES) -> str:
    content = _content(path, left, most)
    try:
        return (content or b"").decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        left.append(f"{path.name}: the file is not UTF-8")
        return ""


def _content(path: Path, left: list[str], most: int = FILE_MAX_BYTES) -> bytes | None:
    """The contents of a regular file; None if it does not exist or must not be imported."""
    try:
        # A link may point to anything of this machine's.
        if not stat.S_ISREG(path.lstat().st_mode):
            left.append(f"{path.name}: not a regular file")
            return None
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        left.append(f"{path.name}: {error.strerror}")
        return None
    if len(content) > most:
        left.append(f"{path.name}: the file is larger than {most:,} bytes")
        return None
    return content

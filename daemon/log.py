"""Structured logs: a static event name and keys, without message text and secrets.

One line is one JSON object, or a readable line on a terminal. The consumer of a message binds the ids once
(``bound_contextvars``), so that every line about a message carries its correlation id.
"""

import json
import logging
import logging.handlers
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import msgspec
import structlog

from daemon.durable import FILE_MODE, FOLDER_MODE, OTHERS, private_folder
from daemon.errors import brief

OURS = "millpond"
"""Name of the logger of Millpond's own lines."""

KEYS = frozenset(
    {
        *("session", "message_id", "turn", "worker", "attempt", "stream", "head", "cursor", "fence", "model", "tool"),
        *("tokens_in", "tokens_out", "budget_tokens", "tokens_before", "tokens_after", "tokens"),
        *("first", "upto", "rounds", "raw", "chunk", "chunks", "ratio", "waited_s", "took_s", "reason"),
        *(
            "correlation",
            "channel",
            "address",
            "role",
            "count",
            "status",
            "path",
            "state",
            "bot",
            "vocabulary",
            "job",
            "kind",
        ),
    }
)
"""All keys that a log line may have besides event, level and time. A test checks every call."""

FILE_MAX_BYTES = 10 * 1024 * 1024
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
FILE_KEEP = 5
"""Number of old log files that are kept besides the current one."""


_log = structlog.get_logger()


def configure(level: str, *, folder: Path | None = None) -> None:
    """Send logs to stderr, or to ``folder/millpond.log`` (rotated) if a folder is given."""
    if folder is None:
        handler: logging.Handler = logging.StreamHandler(sys.stderr)
        readable = sys.stderr.isatty()
    else:
        private_folder(folder)
        _tighten(folder)
        handler = _PrivateFile(
            folder / "millpond.log", maxBytes=FILE_MAX_BYTES, backupCount=FILE_KEEP, encoding="utf-8", delay=True
        )
        readable = False
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(_traceback),
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if readable
        else structlog.processors.JSONRenderer(serializer=_json)
    )
    handler.setFormatter(
        _Formatter(
            foreign_pre_chain=[_with_origin, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries log warnings only; our own loggers use the configured level.
    root.setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Lines(handler),
        cache_logger_on_first_use=True,
    )


def take_over() -> None:
    """Write a line for each uncaught exception and warning of this process, which Python would print with values."""
    logging.captureWarnings(capture=True)
    sys.excepthook = _uncaught
    threading.excepthook = lambda found: _log.error("thread.broken", exc_info=found.exc_value)


def _uncaught(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
    _log.critical("process.broken", exc_info=error)
    sys.stderr.write(f"millpond: {type(error).__name__}, a bug. Millpond's log shows where the error occurred.\n")


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """Makes its files for this user alone: names of conversations stand in logs."""

    def _open(self) -> TextIOWrapper:
        return TextIOWrapper(os.fdopen(os.open(self.baseFilename, _APPEND, FILE_MODE), "ab"), encoding=self.encoding)


def _tighten(folder: Path) -> None:
    """Close a folder of logs that an earlier version left open to others."""
    for path in (folder, *folder.glob("millpond.log*")):
        with suppress(OSError):  # it is somebody else's, who decides
            if path.stat(follow_symlinks=False).st_mode & OTHERS and not path.is_symlink():
                path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)


class _Lines:
    """Passes our own lines, which are already rendered, to the handler that libraries use.

    A logger of the standard library would look up the caller and format each line: 77 µs per line instead of 24 µs.
    """

    def __init__(self, handler: logging.Handler) -> None:
        self._handler = handler

    def write(self, line: str) -> None:
        """Write one line of any level. Lines below the configured level are filtered before."""
        self._handler.handle(logging.LogRecord(OURS, logging.INFO, "", 0, line, None, None))

    debug = info = warning = error = critical = write


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Renders lines of libraries like our own, without values, which may be words of a conversation."""

    def format(self, record: logging.LogRecord) -> str:
        if record.name == OURS:
            return str(record.msg)
        # Without arguments the text itself may have been put together of values.
        said = str(record.msg) if record.args else "library.line"
        return super().format(logging.makeLogRecord({**record.__dict__, "msg": said, "args": ()}))


def _with_origin(_logger: Any, _level: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """The line of a library with the place that wrote it."""
    record: logging.LogRecord = event["_record"]
    return {**event, "logger": record.name, "path": f"{record.module}:{record.lineno}"}


def _traceback(exc_info: Any) -> str:
    """Where an exception and its causes were raised, each with its class; their texts may quote a conversation."""
    return "".join(_raised(exc_info[1], set())).rstrip()


def _raised(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and id(cause) not in seen:
        yield from _raised(cause, seen)
        yield "\nIt caused:\n\n"
    yield from traceback.format_tb(error.__traceback__)
    yield f"{type(error).__name__}: {said}\n" if (said := brief(error)) != type(error).__name__ else f"{said}\n"
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            if id(each) not in seen:
                yield "\nOne of them:\n\n"
                yield from _raised(each, seen)


def _json(event: Mapping[str, Any], **_: Any) -> str:
    try:
        return msgspec.json.encode(event, enc_hook=repr).decode()
    except UnicodeEncodeError:  # a lone surrogate, for example in a name
        return json.dumps(event, default=repr)

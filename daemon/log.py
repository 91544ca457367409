"""Structured logs: a static event name, everything else a key; no message text, no secret.

One line is one JSON object, or a readable line on a terminal. Ids are bound once by whoever consumes a message
(``bound_contextvars``), so that every line on the way of a message carries its correlation id.
"""

import json
import logging
import logging.handlers
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import structlog

OURS = "millpond"
"""The name of our own lines' logger."""

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
"""All keys a log line may carry beside the event, level and time; a test holds every call to it."""

FILE_MAX_BYTES = 10 * 1024 * 1024
FILE_KEEP = 5
"""Log files kept beside the current one."""


def configure(level: str, *, folder: Path | None = None) -> None:
    """Send logs to stderr, or to ``folder/millpond.log`` (rotated) when one is given."""
    if folder is None:
        handler: logging.Handler = logging.StreamHandler(sys.stderr)
        readable = sys.stderr.isatty()
    else:
        folder.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            folder / "millpond.log", maxBytes=FILE_MAX_BYTES, backupCount=FILE_KEEP, encoding="utf-8", delay=True
        )
        readable = False
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if readable
        else structlog.processors.JSONRenderer(serializer=_json)
    )
    handler.setFormatter(
        _Formatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries speak up only when something is wrong; our own loggers have the level that was asked for.
    root.setLevel(logging.WARNING)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Lines(handler),
        cache_logger_on_first_use=True,
    )


class _Lines:
    """Hands our own lines, which are ready, to the handler of the libraries' lines.

    A logger of the standard library would look for the caller of each: with the formatting that it asks for, a line
    costs 77 µs by it and 24 by this.
    """

    def __init__(self, handler: logging.Handler) -> None:
        self._handler = handler

    def write(self, line: str) -> None:
        """Write one line, of whatever level: those that are not asked for do not come here."""
        self._handler.handle(logging.LogRecord(OURS, logging.INFO, "", 0, line, None, None))

    debug = info = warning = error = critical = write


class _Formatter(structlog.stdlib.ProcessorFormatter):
    """Renders the lines of libraries as ours are."""

    def format(self, record: logging.LogRecord) -> str:
        return str(record.msg) if record.name == OURS else super().format(record)


def _json(event: Mapping[str, Any], **_: Any) -> str:
    try:
        return msgspec.json.encode(event, enc_hook=repr).decode()
    except UnicodeEncodeError:  # half of a character, in what somebody gave for a name
        return json.dumps(event, default=repr)

"""Structured logs: a static event name, everything else a key; no message text, no secret.

One line is one JSON object, or a readable line on a terminal. Ids are bound once by whoever consumes a message
(``bound_contextvars``), so that every line on the way of a message carries its correlation id.
"""

import logging
import logging.handlers
import sys
from pathlib import Path

import structlog

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
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries speak up only when something is wrong; our own loggers have the level that was asked for.
    root.setLevel(logging.WARNING)
    logging.getLogger("millpond").setLevel(level.upper())
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: logging.getLogger("millpond"),
        cache_logger_on_first_use=True,
    )

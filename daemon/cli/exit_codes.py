"""Exit codes of the ``millpond`` command, named as in ``sysexits.h``, and their errors."""

from typing import cast

from daemon.errors import (
    ArchiveError,
    BusUnavailable,
    ConfigError,
    DataError,
    EngineRefused,
    InboundError,
    Interrupted,
    LoginRefused,
    MillpondError,
    ModelUnavailable,
    NoSuchTranscript,
    NoSuchVersion,
    OutputError,
    SessionFull,
    Unreachable,
    VersionMoved,
)

FAILED = 1
EX_DATAERR = 65
"""The input cannot be used."""
EX_UNAVAILABLE = 69
"""Redis or the model is away."""
EX_CANTCREAT = 73
"""The file that was asked for cannot be written."""
EX_IOERR = 74
"""A file of the archive cannot be read or written."""
EX_TEMPFAIL = 75
"""Full, or not in time: the same command may succeed later."""
EX_CONFIG = 78
"""The configuration or the data directory has to be changed."""
INTERRUPTED = 130
"""128 + SIGINT."""

_CODES: tuple[tuple[type[Exception], int], ...] = (
    (ConfigError, EX_CONFIG),
    (EngineRefused, EX_CONFIG),
    (SessionFull, EX_TEMPFAIL),
    (VersionMoved, EX_TEMPFAIL),
    (NoSuchVersion, EX_DATAERR),
    (NoSuchTranscript, EX_DATAERR),
    (InboundError, EX_DATAERR),
    (DataError, EX_DATAERR),
    (OutputError, EX_CANTCREAT),
    (ArchiveError, EX_IOERR),
    (LoginRefused, EX_CONFIG),
    (BusUnavailable, EX_UNAVAILABLE),
    (ModelUnavailable, EX_UNAVAILABLE),
    (Unreachable, EX_UNAVAILABLE),
    (TimeoutError, EX_TEMPFAIL),
    (Interrupted, INTERRUPTED),
    (MillpondError, FAILED),
)


def code_of(error: Exception) -> int | None:
    """The exit code for ``error``; None for a bug, whose traceback is wanted."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), None)


def leaves(error: BaseException) -> list[BaseException]:
    """The exceptions inside ``error`` if it is a group (a task group raises one), otherwise ``error`` itself."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for each in group.exceptions for leaf in leaves(each)]
    return [error]

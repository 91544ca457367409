"""Every exception that Millpond raises, as one tree; callers branch on the class, never on text.

* MillpondError
  x ConfigError
  x InboundError
    - BadSessionKey
    - ForeignSession
    - MessageTooLarge
  x BusError
    - WrongType
    - BusUnavailable
      + LoginRefused
      + ServerNotReady
      + TooFewReplicas
    - EngineRefused
  x SessionError
    - LeaseLost
    - SessionFull
    - Trimmed
  x ModelError
    - ModelUnavailable
      + RateLimited
      + ModelTimeout
    - ModelRefused
      + SetupFault
        - Unreachable
      + ContentFiltered
    - ContextOverflow
    - InvalidAnswer
  x ConsolidationError
    - LockLost
    - FenceBehind
    - Misplaced
    - MemoryMoving
    - NoSummary
      + SummaryFailed
      + CallSkipped
      + Unsummarizable
  x MemoryRefused
    - NoSuchVersion
    - NoSuchMemory
    - VersionMoved
  x ArchiveError
    - ArchiveMissing
    - ArchiveUnavailable
    - NoSuchTranscript
  x SearchError (daemon/recall/index/index_files.py)
  x JobError
    - JobLost
    - JobWaits
    - JobRefused
  x DataError
    - DamagedData
    - DatabaseNotEmpty
  x OutputError
  x ReminderRefused (daemon/reminders/reminder.py)
  x ToolError
  x Interrupted
  x ChannelError
    - SendRefused
    - Paced
    - SendRejected
    - SendUnknown

The first argument is a text for people: the failed or missing thing with its place, and the remedy. Evidence is an
attribute.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

UNREADABLE = (ValueError, RecursionError)
"""Exceptions of decoding unreadable input. Errors of msgspec and of UTF-8 are ValueErrors; too deep nesting
raises RecursionError."""


class MillpondError(Exception):
    """The root of the tree. Its ``str()`` can be shown to a person."""

    def __init__(self, message: object = "", *, brief: str = "") -> None:
        super().__init__(message)
        self.brief = brief or str(message)
        """The message without the words of a server or a tool, which may quote the conversation. Logs contain it."""


def brief(error: BaseException) -> str:
    """Reason of ``error`` for a log: the brief of an error of ours, otherwise the class and the system's words."""
    if isinstance(error, MillpondError):
        return error.brief
    said = error.strerror if isinstance(error, OSError) else ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class ConfigError(MillpondError):
    """The configuration cannot be used; nothing was started."""


class InboundError(MillpondError):
    """A message cannot be accepted as it is; the sender has to change it."""


class BadSessionKey(InboundError):
    """A session name or key cannot be read."""


class ForeignSession(InboundError):
    """A session belongs to a different channel instance."""


class MessageTooLarge(InboundError):
    """A message is larger than the limit."""

    def __init__(self, message: str, *, size_bytes: int, max_bytes: int) -> None:
        super().__init__(message)
        self.size_bytes = size_bytes
        self.max_bytes = max_bytes


class BusError(MillpondError):
    """Redis refused a command, because of a bug in Millpond or a broken server."""


class WrongType(BusError):
    """A key of Redis has another type than Millpond gives it. `millpond data check` names the key."""


class BusUnavailable(BusError):
    """Redis cannot be reached or accepts no writes right now. The same call may succeed later."""


class LoginRefused(BusUnavailable):
    """Redis refuses the password; the same call succeeds when somebody has corrected it, on one side or the other."""


class ServerNotReady(BusUnavailable):
    """The embedded server is not running and could not be started this time (a full disk, for example)."""


class TooFewReplicas(BusUnavailable):
    """Redis has carried it out, and too few replicas have it; the same call, repeated, asks them again."""


class EngineRefused(BusError):
    """The data was written by an engine whose files the available server must not open: it would start empty."""


class SessionError(MillpondError):
    """An operation on a session was refused."""


class LeaseLost(SessionError):
    """Another worker holds the session now. Nothing was written."""


class SessionFull(SessionError):
    """A session, or its partition, has reached its limit of pending messages."""

    def __init__(self, message: str, *, retry_after_s: float, first: bool, everybody: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.first = first
        """The first refusal since the session last accepted a message: a channel that sends replies tells them."""
        self.everybody = everybody
        """The partition is full, not the session. The sender cannot change that."""


class Trimmed(SessionError):
    """Messages left Redis for the archive before they were read. Read the positions again."""

    def __init__(self, message: str, *, base: int) -> None:
        super().__init__(message)
        self.base = base
        """Index of the first message that Redis still holds."""


class ModelError(MillpondError):
    """A model call returned no usable answer."""


class ModelUnavailable(ModelError):
    """The model cannot be reached or answers with 5xx. A later call may succeed."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.retry_after_s = retry_after_s
        """The pause that the server asked for; None: it did not ask for any."""


class RateLimited(ModelUnavailable):
    """The model answers with 429."""


class ModelTimeout(ModelUnavailable):
    """The model did not answer, or stopped streaming, within its deadline."""


class ModelRefused(ModelError):
    """The model's server refused the request or the key. Retrying does not help."""

    def __init__(self, message: str, *, status: int = 0, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.status = status
        """Status of the HTTP response; 0 without a response."""


class SetupFault(ModelRefused):
    """The model cannot be asked before somebody mends the set-up: its key, name, address or certificate."""


class Unreachable(SetupFault):
    """Nothing answers at the model's address, and nothing will before somebody mends that."""


class ContentFiltered(ModelRefused):
    """A content filter of the model's server refuses the prompt."""


class ContextOverflow(ModelError):
    """The prompt is larger than the model's context window."""


class InvalidAnswer(ModelError):
    """The model's answer cannot be used: it is cut off, malformed or empty."""

    is_empty: bool = False
    """There was nothing in it; some servers answer so to a prompt that is too large."""


class ConsolidationError(MillpondError):
    """A range of a log was not consolidated. Nothing is lost: the next attempt starts at the same message."""


class LockLost(ConsolidationError):
    """Another worker consolidates the session now. Nothing was written."""


class FenceBehind(ConsolidationError):
    """A memory was opened with a later lock of the session than the given one."""

    def __init__(self, message: str, *, highest: int) -> None:
        super().__init__(message)
        self.highest = highest
        """The next lock needs a higher fence."""


class Misplaced(ConsolidationError):
    """A range for a memory does not start at the memory's end."""

    def __init__(self, message: str, *, upto: int) -> None:
        super().__init__(message)
        self.upto = upto
        """The memory contains the session's messages before this index."""


class MemoryMoving(ConsolidationError):
    """A memory is being merged with another one. It can be written again in a moment."""


class NoSummary(ConsolidationError):
    """A model returned no usable summary of a part of a conversation."""

    used: Mapping[str, Any] = MappingProxyType({})
    """Usage of the failed calls: model → ``daemon.usage.Amount``."""


class SummaryFailed(NoSummary):
    """The model's answer cannot be used. It is counted as a failure of the session."""


class CallSkipped(NoSummary):
    """The model failed so often recently that it is not called now. It is not counted as a failure of the session."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unsummarizable(NoSummary):
    """Every message is too large for a request, so the raw entry is written immediately."""

    def __init__(self, message: str, *, note: str) -> None:
        super().__init__(message)
        self.note = note
        """Text for models that replaces the summary."""


class MemoryRefused(MillpondError):
    """A person's request for a memory cannot be carried out."""


class NoSuchVersion(MemoryRefused):
    """A memory has no version with that number."""


class NoSuchMemory(MemoryRefused):
    """No scope has that name."""


class VersionMoved(MemoryRefused):
    """Other changes of the memory kept interfering with this one. Nothing was written."""


class ArchiveError(MillpondError):
    """A part of a log was not archived, or cannot be read back."""


class ArchiveMissing(ArchiveError):
    """An archived file was not found or is damaged. Retrying does not help; the archive itself can be used."""


class ArchiveUnavailable(ArchiveError):
    """The archive's storage cannot be used at present. The same call may succeed later."""


class JobError(MillpondError):
    """A job cannot be run now, in this process, or at all."""


class JobLost(JobError):
    """Another process runs the job now. Nothing was written."""


class JobWaits(JobError):
    """A job has to wait for other work and continues later. It is not counted as a failure."""

    def __init__(self, message: str, *, delay_s: float, partly: bool = False) -> None:
        """``partly``: everything that could be done without waiting is done."""
        super().__init__(message)
        self.delay_s = delay_s
        self.partly = partly


class JobRefused(JobError):
    """A job can never succeed. The text becomes its report."""


class NoSuchTranscript(ArchiveError):
    """No transcript has that name."""


class DataError(MillpondError):
    """A backup cannot be used, or the restored data differs from it."""


class DamagedData(DataError):
    """A key of Redis has another type than Millpond gives it, or holds bytes that are not text."""


class DatabaseNotEmpty(DataError):
    """A restore would overwrite other data. Nothing was changed."""


class OutputError(MillpondError):
    """A requested file was not written."""


class ToolError(MillpondError):
    """A tool failed. The text becomes the result that the model reads."""

    def __init__(self, message: object = "", *, brief: str = "a tool failed") -> None:
        super().__init__(message, brief=brief)


class ChannelError(MillpondError):
    """A platform did not accept a message."""


class SendRefused(ChannelError):
    """Nothing was sent, or the platform refused it for now. The same message may be sent later."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.retry_after_s = retry_after_s
        """Delay that the platform asks for; None if it named none."""


class Paced(ChannelError):
    """Sending now would exceed the platform's rate limit. Nothing was sent, and nothing failed."""

    def __init__(self, *, wait_s: float) -> None:
        super().__init__(f"the chat platform will not accept another message for {wait_s:.3g} s")
        self.wait_s = wait_s


class SendRejected(ChannelError):
    """The platform refused the message permanently. Retrying does not help."""


class SendUnknown(ChannelError):
    """The connection broke after sending, so it is unknown whether the message arrived."""


class Interrupted(MillpondError):
    """A person asked the process to stop immediately."""

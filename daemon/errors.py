"""Every exception that Millpond raises, as one tree; callers branch on the class, never on text.

* MillpondError
  x ConfigError
  x InboundError
    - BadSessionKey
    - ForeignSession
    - MessageTooLarge
  x BusError
    - BusUnavailable
      + ServerNotReady
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
    - NoSuchTranscript
  x SearchError
    - IndexBusy
    - IndexDamaged
    - IndexGone
    - IndexUnusable
  x JobError
    - JobLost
    - JobWaits
    - JobRefused
  x DataError
    - DatabaseNotEmpty
  x OutputError
  x ToolError
  x Interrupted
  x ChannelError
    - SendRefused
    - Paced
    - SendRejected
    - SendUnknown

The first argument is a sentence for people: what is wrong, where, and what to do. Evidence is an attribute.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

UNREADABLE = (ValueError, RecursionError)
"""What decoding raises that is no decoder's fault: msgspec's errors and those of UTF-8 are ValueErrors, and whatever is
nested beyond reason raises the other one."""


class MillpondError(Exception):
    """The root; ``str()`` of it can be shown to a person."""

    def __init__(self, message: object = "", *, brief: str = "") -> None:
        super().__init__(message)
        self.brief = brief or str(message)
        """The same without words of others (a server, a tool), which may quote a conversation: for logs."""


def brief(error: BaseException) -> str:
    """Reason for a log: an error of ours without words of others; of another one its class, and the system's words."""
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
    """A session belongs to another channel instance than the one that was asked."""


class MessageTooLarge(InboundError):
    """A message is above the limit."""

    def __init__(self, message: str, *, size_bytes: int, max_bytes: int) -> None:
        super().__init__(message)
        self.size_bytes = size_bytes
        self.max_bytes = max_bytes


class BusError(MillpondError):
    """Redis refused a command; a bug of ours or a broken server."""


class BusUnavailable(BusError):
    """Redis cannot be reached or takes no writes just now; the same call may succeed later."""


class ServerNotReady(BusUnavailable):
    """The embedded server is not running and could not be started this time (a full disk, say)."""


class EngineRefused(BusError):
    """The data was written by an engine that the available server must not open (FACTS: it would start empty)."""


class SessionError(MillpondError):
    """An operation on a session was refused."""


class LeaseLost(SessionError):
    """Somebody else holds the session now; what was to be written was not."""


class SessionFull(SessionError):
    """A session, or its partition, holds as many waiting messages as it may."""

    def __init__(self, message: str, *, retry_after_s: float, first: bool, everybody: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.first = first
        """Nobody of this session was told since it last accepted a message: a channel that sends says so now."""
        self.everybody = everybody
        """The partition is full, not the session: its sender can do nothing about it."""


class Trimmed(SessionError):
    """Messages that were to be read have left Redis for the archive meanwhile: read the positions again."""

    def __init__(self, message: str, *, base: int) -> None:
        super().__init__(message)
        self.base = base
        """Index of the first message that Redis still holds."""


class ModelError(MillpondError):
    """A model gave no usable answer."""


class ModelUnavailable(ModelError):
    """The model cannot be reached or answers 5xx; trying later makes sense."""


class RateLimited(ModelUnavailable):
    """The model answers 429."""

    def __init__(self, message: str, *, retry_after_s: float | None, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.retry_after_s = retry_after_s


class ModelTimeout(ModelUnavailable):
    """The model did not answer, or stopped streaming, within its deadline."""


class ModelRefused(ModelError):
    """The model's server says that the request or the key is wrong; trying again changes nothing."""

    def __init__(self, message: str, *, status: int = 0, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.status = status
        """Of the HTTP response; 0: there was none."""


class SetupFault(ModelRefused):
    """The model cannot be asked before somebody mends the set-up: its key, name, address or certificate."""


class ContentFiltered(ModelRefused):
    """A content filter of the model's server refuses the prompt."""


class ContextOverflow(ModelError):
    """The prompt is larger than the model's window."""


class InvalidAnswer(ModelError):
    """The model answered, but not with anything that can be used (cut off, malformed, empty)."""


class ConsolidationError(MillpondError):
    """A range of a log was not consolidated; nothing is lost, and the next try begins where this one did."""


class LockLost(ConsolidationError):
    """Somebody else consolidates the session now; what was to be written was not."""


class FenceBehind(ConsolidationError):
    """A memory has seen a later lock of the session than the one that wants to open it."""

    def __init__(self, message: str, *, highest: int) -> None:
        super().__init__(message)
        self.highest = highest
        """The next lock's fence has to be above it."""


class Misplaced(ConsolidationError):
    """What was to be taken into a memory does not begin where the memory ends."""

    def __init__(self, message: str, *, upto: int) -> None:
        super().__init__(message)
        self.upto = upto
        """What the memory has taken in of the session: everything before this index."""


class MemoryMoving(ConsolidationError):
    """A memory is being joined with another one just now; a moment later it can be written again."""


class NoSummary(ConsolidationError):
    """A model was to sum up a part of a conversation, and there is nothing that could be kept."""

    used: Mapping[str, Any] = MappingProxyType({})
    """What the calls used all the same: model → ``daemon.usage.Amount``."""


class SummaryFailed(NoSummary):
    """The model gave nothing that can be used; counts as a failure of the session."""


class CallSkipped(NoSummary):
    """The model failed so often lately that it is not asked just now; counts as no failure of the session."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unsummarizable(NoSummary):
    """Every message is too large for a request: the raw entry comes at once."""

    def __init__(self, message: str, *, note: str) -> None:
        super().__init__(message)
        self.note = note
        """What a model is shown in place of a summary."""


class MemoryRefused(MillpondError):
    """What a person asked of a memory cannot be done."""


class NoSuchVersion(MemoryRefused):
    """A memory never had a version of that number."""


class NoSuchMemory(MemoryRefused):
    """There is no scope of that name."""


class VersionMoved(MemoryRefused):
    """A memory was changed by others again and again while this change was tried; nothing was written."""


class ArchiveError(MillpondError):
    """A part of a log was not archived, or cannot be read back."""


class ArchiveMissing(ArchiveError):
    """What was archived is not there, or spoilt: reading it again changes nothing, while the archive can be used."""


class SearchError(MillpondError):
    """An index of what is remembered cannot be used; all that is in it can be had from Redis and the archive."""


class IndexBusy(SearchError):
    """Another process, or another task of this one, has an index for itself just now."""


class IndexDamaged(SearchError):
    """An index is not what it should be; it is to be deleted and made anew."""


class IndexGone(SearchError):
    """An index was deleted while this process had it open; open it again."""


class IndexUnusable(SearchError):
    """The disk does not let an index be read or written: it is full, read-only, or broken."""


class JobError(MillpondError):
    """A job cannot be done just now, here, or at all."""


class JobLost(JobError):
    """Another process does the job now; what was to be written was not."""


class JobWaits(JobError):
    """A job has to wait for others, for no fault of its own; it goes on later."""

    def __init__(self, message: str, *, delay_s: float) -> None:
        super().__init__(message)
        self.delay_s = delay_s


class JobRefused(JobError):
    """A job can never be done as it is; its text is the report."""


class NoSuchTranscript(ArchiveError):
    """There is no transcript of that name."""


class DataError(MillpondError):
    """A backup cannot be used, or what was restored is not what was backed up."""


class DatabaseNotEmpty(DataError):
    """A backup would be restored over something else; nothing was changed."""


class OutputError(MillpondError):
    """A file that a person asked for was not written."""


class ToolError(MillpondError):
    """A tool failed; its text becomes the result that the model reads."""

    def __init__(self, message: object = "", *, brief: str = "a tool failed") -> None:
        super().__init__(message, brief=brief)


class ChannelError(MillpondError):
    """A platform did not take what was to be sent."""


class SendRefused(ChannelError):
    """Nothing was sent, or the platform says no for now; the same may be sent later."""

    def __init__(self, message: str, *, retry_after_s: float | None = None, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.retry_after_s = retry_after_s
        """When the platform wants it again; None when it did not say."""


class Paced(ChannelError):
    """Sending now would be faster than a platform allows: nothing was sent, and nothing failed."""

    def __init__(self, *, wait_s: float) -> None:
        super().__init__(f"the platform takes the next message in {wait_s:.3g} s")
        self.wait_s = wait_s


class SendRejected(ChannelError):
    """The platform refuses it for good; sending it again changes nothing."""


class SendUnknown(ChannelError):
    """It was cut after sending: the platform may have it or not."""


class Interrupted(MillpondError):
    """A person wants the process to end now, whatever it is doing."""

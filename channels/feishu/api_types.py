"""The answers and events of Feishu's API: their forms, and their meaning for callers. Pure.

Nearly nothing must be there: what has another shape than today is left out field by field.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from channels.shapes import Shape, nested
from daemon.errors import SendRefused, SendRejected, SendUnknown

# What Feishu says, as far as it is of use here; everything else in it is passed over.


class Ids(Shape, frozen=True):
    """Ids of one person; the first is the one that this app knows them by."""

    open_id: str = ""
    union_id: str = ""
    user_id: str = ""


class Mention(Shape, frozen=True):
    """Somebody who is named in a message."""

    key: str = ""
    """``@_user_1``: what stands in the text."""
    id: Any = None
    """In an event ``Ids``, in a message that was asked for the ``open_id``."""
    name: str = ""

    @property
    def open_id(self) -> str:
        """Empty: not known."""
        found = nested(self.id, "open_id") or self.id
        return found if isinstance(found, str) else ""


class EventSender(Shape, frozen=True):
    """Who said it, in an event."""

    sender_id: Ids | None = None
    sender_type: str = ""
    """``user``; what apps say is not told today."""
    tenant_key: str = ""


class Message(Shape, frozen=True):
    """A message, in an event."""

    message_id: str = ""
    root_id: str = ""
    parent_id: str = ""
    thread_id: str = ""
    create_time: str = ""
    """Milliseconds of the epoch."""
    chat_id: str = ""
    chat_type: str = ""
    """``p2p`` or ``group``."""
    message_type: str = ""
    content: str = ""
    """JSON, whose form depends on ``message_type``."""
    mentions: tuple[Mention, ...] = ()


class ReactionKind(Shape, frozen=True):
    """An emoji, by the name that Feishu gives it."""

    emoji_type: str = ""


class Action(Shape, frozen=True):
    """A button that was pressed."""

    value: Any = None
    """Of the app's own making."""


class Context(Shape, frozen=True):
    """Where a button was pressed."""

    open_message_id: str = ""
    open_chat_id: str = ""


class Event(Shape, frozen=True):
    """What happened: something was said, or (``message_id`` alone) taken back, or a message was marked, or a button
    was pressed."""

    sender: EventSender | None = None
    message: Message | None = None
    message_id: str = ""
    chat_id: str = ""
    reaction_type: ReactionKind | None = None
    operator_type: str = ""
    """Of a mark: ``user`` or ``app``."""
    user_id: Ids | None = None
    """Of a mark: whose it is."""
    operator: Ids | None = None
    """Of a press: whose it is."""
    action: Action | None = None
    context: Context | None = None


class Header(Shape, frozen=True):
    """What every event says of itself."""

    event_id: str = ""
    event_type: str = ""
    app_id: str = ""
    tenant_key: str = ""


class Body(Shape, frozen=True):
    """An event, as it is delivered."""

    header: Header | None = None
    event: Event | None = None


class Author(Shape, frozen=True):
    """Who said it, in a message that was asked for."""

    id: str = ""
    id_type: str = ""
    sender_type: str = ""


class Content(Shape, frozen=True):
    """What it says."""

    content: str = ""


class Item(Shape, frozen=True):
    """A message that was asked for (``im/v1/messages``)."""

    message_id: str = ""
    root_id: str = ""
    parent_id: str = ""
    thread_id: str = ""
    create_time: str = ""
    chat_id: str = ""
    msg_type: str = ""
    deleted: bool = False
    sender: Author | None = None
    body: Content | None = None
    mentions: tuple[Mention, ...] = ()


# The meaning of the answers of Feishu's API for their callers. Pure.

LONG_REST_S = 60.0
"""Pause when only a person can help: a wrong secret, a missing permission, an address without the API behind it."""

DETAIL_CHARS = 300
"""Characters of Feishu's message in an error."""

TOO_MANY = frozenset({99991400, 230020, 11232, 11233, 11247})
"""Codes of rate limits (open.feishu.cn, "Rate limits" and "Generic error codes")."""

TOKEN = frozenset({99991661, 99991663, 99991664, 99991665, 99991668, 99991671, 20005, 20013, 4001})
"""Codes of an access token that is missing, invalid or expired."""

SECRET = frozenset({10003, 10005, 10012, 10013, 10014, 10015, 99991401, 99991543, 99991662, 99991673, 1000040344})
"""Codes of an app id or a secret that is wrong, of an app that is switched off, and of a machine that the app excludes
(``lark-cli``, "Generic error codes")."""

SCOPE = frozenset({99991672, 99991676, 99991679})
"""Codes of a permission that the app lacks."""

LATER = frozenset({230049, 18121, 1, 1500, 1663, 1668, 5000, 55001, 10500, 300120, 99991500, 1000040343})
"""Codes for: not now, also of long connections (lark-oapi, ``ws/const.py``). What was sent under a ``uuid`` may be sent
again, so nothing is in doubt."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call."""

    found: dict[str, Any]
    """The JSON object; empty if the answer had none."""
    status: int
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])

    @property
    def code(self) -> int | None:
        """0: success; None: the answer is not from Feishu's API."""
        code = self.found.get("code")
        return code if isinstance(code, int) else None

    @property
    def retry_after_s(self) -> float | None:
        """How long Feishu wants to be left alone ("Rate limits")."""
        try:
            told_s = float(self.headers.get("x-ogw-ratelimit-reset") or self.headers.get("retry-after") or "")
        except ValueError:
            return None
        return told_s if 0 < told_s < float("inf") else None


class Unreached(SendRefused):
    """The server cannot be reached; nothing was sent."""


class TooMany(SendRefused):
    """Feishu wants nothing of the kind for ``retry_after_s``."""


class TokenExpired(SendRefused):
    """The access token is not accepted; another one can be had."""


class Unauthorized(SendRefused):
    """Feishu accepts neither the app nor its secret; only a person can help."""


class MissingScope(Unauthorized):
    """The app lacks the permission to do this."""


class Rejected(SendRejected):
    """Feishu refused a request with a code."""

    def __init__(self, message: str, *, code: int, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.code = code
        """Feishu's code, 230002 for example; 0: it was not Feishu that refused."""


def judged(answer: Answer, *, method: str, base: str, reads: bool) -> dict[str, Any]:
    """The JSON object of a call that succeeded, or the error for its failure. Errors as for ``Api.call``.

    ``reads``: it shows nothing to anybody, so there is nothing to be in doubt about.
    """
    code = answer.code
    if answer.status == 429 or code in TOO_MANY:
        raise TooMany(f"Feishu is rate-limiting {method} requests right now", retry_after_s=answer.retry_after_s)
    if code is None:
        raise _foreign(answer.status, method, base, reads=reads)
    if code == 0 and 200 <= answer.status < 300:
        return answer.found
    text = f"Feishu responded to {method} with error {code}{_detail(answer.found)}"
    brief = f"Feishu responded to {method} with error {code}"
    if code in TOKEN:
        raise TokenExpired(text, brief=brief)
    if code in SECRET:
        text = f"{text}. Check app_id, app_secret and the app's status."
        raise Unauthorized(text, retry_after_s=LONG_REST_S, brief=brief)
    if code in SCOPE:
        raise MissingScope(text, retry_after_s=LONG_REST_S, brief=brief)
    if code in LATER or answer.status >= 500:
        raise SendRefused(text, retry_after_s=answer.retry_after_s, brief=brief)
    raise Rejected(text, code=code, brief=brief)


def _foreign(status: int, method: str, base: str, *, reads: bool) -> Exception:
    """The error for an answer that does not come from Feishu's API, but from a gateway in between."""
    text = f"{base} responded to {method} with HTTP status {status}, but the body is not valid Feishu API JSON"
    if status == 413:
        return Rejected(text, code=0)
    # A gateway that got no answer in time, and a page that says it went well: what was sent may have arrived.
    if not reads and (status == 504 or 200 <= status < 300):
        return SendUnknown(text)
    if status >= 500:
        return SendRefused(text)
    return SendRefused(f"{text}. Check base_url.", retry_after_s=LONG_REST_S)


def _detail(found: Mapping[str, Any]) -> str:
    """Feishu's words besides the code."""
    said = found.get("msg")
    return f" ({said[:DETAIL_CHARS]})" if isinstance(said, str) and said else ""

"""The answers and events of Slack's Web API: their forms, and their meaning for callers. Pure.

Nearly nothing must be there. What has another shape than today is left out field by field (``lenient``), so that what
can be understood is not lost with the rest.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from channels.shapes import UNFITTING, Shape, lenient, objects_in
from daemon.errors import SendRefused, SendRejected, SendUnknown

# What Slack says, as far as it is of use here; everything else in it is passed over.

__all__ = ["UNFITTING", "Shape", "lenient", "objects_in"]


class File(Shape, frozen=True):
    """A file that came with a message; of some there is no more than a sign that it was one."""

    id: str = ""
    name: str = ""
    title: str = ""
    mimetype: str = ""
    subtype: str = ""
    """``slack_audio`` and ``slack_video``: recorded in Slack itself."""
    mode: str = ""
    """``hosted``, ``snippet``, ``external``, ``tombstone``, ``hidden_by_limit`` and others."""
    file_access: str = ""
    """``check_file_info``: of another workspace; only files.info tells where it lies."""
    is_external: bool = False
    size: int = 0
    url_private: str = ""
    url_private_download: str = ""
    thumb_1024: str = ""
    """Of a picture: where it lies with no side longer than so many pixels; missing for those that are smaller."""
    thumb_960: str = ""
    thumb_720: str = ""
    external_url: str = ""


class Attached(Shape, frozen=True):
    """What Slack calls an attachment: a message that is passed on, what a link shows, or a card that an app made."""

    fallback: str = ""
    pretext: str = ""
    title: str = ""
    text: str = ""
    author_name: str = ""
    author_id: str = ""
    is_share: bool = False
    is_msg_unfurl: bool = False
    is_reply_unfurl: bool = False
    files: tuple[File, ...] = ()
    message_blocks: Any = None
    blocks: Any = None

    @property
    def is_passed_on(self) -> bool:
        """Whether it is a message that somebody passes on, or links to."""
        return self.is_share or self.is_msg_unfurl or self.is_reply_unfurl


class Edited(Shape, frozen=True):
    """When a person changed a message."""

    user: str = ""
    ts: str = ""


class Profile(Shape, frozen=True):
    """Which app speaks."""

    id: str = ""
    app_id: str = ""
    name: str = ""


class Marked(Shape, frozen=True):
    """The message that was marked with an emoji, or something else."""

    type: str = ""
    channel: str = ""
    ts: str = ""


class Message(Shape, frozen=True):
    """Something said in a conversation, or something that happened there; also an event of another type."""

    type: str = ""
    subtype: str = ""
    channel: str = ""
    channel_type: str = ""
    ts: str = ""
    thread_ts: str = ""
    deleted_ts: str = ""
    event_ts: str = ""
    user: str = ""
    bot_id: str = ""
    app_id: str = ""
    username: str = ""
    bot_profile: Profile | None = None
    text: str = ""
    blocks: Any = None
    files: tuple[File, ...] = ()
    attachments: tuple[Attached, ...] = ()
    edited: Edited | None = None
    hidden: bool = False
    message: "Message | None" = None
    """Of ``message_changed``: what it says now."""
    previous_message: "Message | None" = None
    reaction: str = ""
    """Of ``reaction_added`` and ``reaction_removed``: the name of the emoji."""
    item: Marked | None = None
    item_user: str = ""
    """Whose the marked message is."""


class Command(Shape, frozen=True):
    """A slash command, as its fields say."""

    command: str = ""
    text: str = ""
    team_id: str = ""
    channel_id: str = ""
    user_id: str = ""
    user_name: str = ""
    trigger_id: str = ""


class PressedAction(Shape, frozen=True):
    """A button, as it was pressed."""

    value: str = ""


class PressedMessage(Shape, frozen=True):
    """The message with the button."""

    ts: str = ""
    thread_ts: str = ""
    text: str = ""
    blocks: tuple[dict[str, Any], ...] | None = None


class Named(Shape, frozen=True):
    """A channel or a person."""

    id: str = ""
    username: str = ""


class Pressed(Shape, frozen=True):
    """Somebody has pressed a button (``block_actions``)."""

    type: str = ""
    trigger_id: str = ""
    user: Named = Named()
    channel: Named = Named()
    message: PressedMessage | None = None
    actions: tuple[PressedAction, ...] = ()


class Body(Shape, frozen=True):
    """What comes around an event."""

    team_id: str = ""
    api_app_id: str = ""
    event_id: str = ""
    event: Message | None = None


# The meaning of Web API answers for their callers. Pure.

LONG_REST_S = 60.0
"""Pause when only a person can help: a wrong token, an address without a Web API behind it."""

TOO_LARGE = 413
"""Status of a proxy that lets no request of this size through."""

DETAIL_CHARS = 300
"""Characters of Slack's details in an error."""

_is_code = re.compile(r"[a-z_]{1,80}").fullmatch
"""Slack's codes; anything else may be words of a message."""

TOKEN = frozenset(
    {
        *("invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type"),
        *("org_login_required", "two_factor_setup_required", "ekm_access_denied", "team_access_not_granted"),
    }
)
"""Codes about the token or the access to the workspace; every method may return them."""

LATER = frozenset(
    {
        *("ratelimited", "rate_limited", "message_limit_exceeded", "service_unavailable", "team_added_to_org"),
        *("request_timeout", "accesslimited"),
    }
)
"""Codes for: not now, and nothing was done."""

DOUBTFUL = frozenset({"internal_error", "fatal_error"})
""""It's possible some aspect of the operation succeeded before the error was raised" (the Web API's methods)."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a call."""

    found: dict[str, Any]
    """The JSON object; empty if the answer had none."""
    status: int
    headers: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """``X-OAuth-Scopes`` names the scopes of a token; found by any spelling of its name."""

    @property
    def error(self) -> str:
        """Slack's error code; empty: success."""
        error = self.found.get("error")
        return error[:DETAIL_CHARS] if isinstance(error, str) else ""

    @property
    def retry_after_s(self) -> float | None:
        """How long Slack wants to be left alone."""
        try:
            told_s = float(self.headers.get("Retry-After", ""))
        except ValueError:
            return None
        return told_s if 0 <= told_s < float("inf") else None


class More(msgspec.Struct, frozen=True, kw_only=True):
    """Details of an error."""

    messages: tuple[str, ...] = ()


class Unreached(SendRefused):
    """The server cannot be reached; nothing was sent."""


class TooMany(SendRefused):
    """Slack wants nothing of the kind for ``retry_after_s``."""


class Unauthorized(SendRefused):
    """Slack does not take the token; only a person can help."""


class MissingScope(Unauthorized):
    """The token lacks the right to do this."""

    def __init__(self, message: str, *, needed: str, brief: str = "") -> None:
        super().__init__(message, retry_after_s=LONG_REST_S, brief=brief)
        self.needed = needed
        """The scopes, one of which it takes, with commas between them; empty: Slack does not say."""


class Rejected(SendRejected):
    """Slack refused a request with a code."""

    def __init__(self, message: str, *, error: str, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.error = error
        """Slack's code, ``channel_not_found`` for example; empty: it was not Slack that refused."""


def judged(answer: Answer, *, method: str, base: str, reads: bool) -> dict[str, Any]:
    """The result of a call, or the error for its failure. Errors as for ``Api.call``.

    ``reads``: it changes nothing, so there is nothing to be in doubt about.
    """
    if answer.status == 429 or answer.error in ("ratelimited", "rate_limited"):
        raise TooMany(f"Slack is rate-limiting {method} requests right now", retry_after_s=answer.retry_after_s)
    if not isinstance(answer.found.get("ok"), bool):
        raise _foreign(answer.status, method, base, reads=reads)
    if answer.found["ok"] and 200 <= answer.status < 300:
        return answer.found
    error = answer.error
    text = f"Slack responded to {method} with error {error or answer.status}{_detail(answer.found)}"
    brief = f"Slack responded to {method} with error {error if _is_code(error) else answer.status}"
    if error == "missing_scope":
        raise MissingScope(text, needed=_text(answer.found.get("needed")), brief=brief)
    if error in TOKEN:
        raise Unauthorized(f"{text}. Check the token.", retry_after_s=LONG_REST_S, brief=brief)
    if error in DOUBTFUL and not reads:
        raise SendUnknown(text, brief=brief)
    if error in LATER or error in DOUBTFUL or answer.status >= 500:
        raise SendRefused(text, retry_after_s=answer.retry_after_s, brief=brief)
    raise Rejected(text, error=error, brief=brief)


def _foreign(status: int, method: str, base: str, *, reads: bool) -> Exception:
    """The error for an answer that does not come from the Web API, but from a gateway in between."""
    text = f"{base} responded to {method} with HTTP status {status}, but the body is not valid Slack Web API JSON"
    if status == TOO_LARGE:
        return Rejected(text, error="")
    # A gateway that got no answer in time, and a page that says it went well: what was sent may have arrived.
    if not reads and (status == 504 or 200 <= status < 300):
        return SendUnknown(text)
    if status >= 500:
        return SendRefused(text)
    return SendRefused(f"{text}. Check base_url.", retry_after_s=LONG_REST_S)


def _detail(found: dict[str, Any]) -> str:
    """Slack's details besides the code."""
    needed = _text(found.get("needed"))
    try:
        said = msgspec.convert(found.get("response_metadata", {}), More).messages
    except UNFITTING:
        said = ()
    told = [f"the scope {needed} is missing"] if needed else []
    detail = "; ".join(each for each in [*told, *said] if each)
    return f" ({detail[:DETAIL_CHARS]})" if detail else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

"""The forms that a text can be sent in, and what of a request Slack may refuse without refusing the message. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from channels.base import Part
from channels.link_spoofing import honest
from channels.slack.api import Api
from channels.slack.api_types import Rejected
from channels.slack.mrkdwn import sound
from daemon.errors import SendRefused

MARKDOWN_MAX = 12_000
"""Characters of ``markdown_text`` (Web API, ``chat.postMessage``, ``chat.startStream`` and ``chat.appendStream``)."""

BLOCKS_MAX = 13_200
"""Characters of the blocks that Slack makes of it, escaped; beyond it is ``msg_blocks_too_long``. Undocumented, as
others have measured it (slackapi/bolt-js, issue 2509)."""

TEXT_MAX = 40_000
"""Characters of ``text``, escaped; Slack cuts what is longer without a word (Web API, ``chat.postMessage``)."""

UPDATE_MAX = 4_000
"""Characters of a text in ``chat.update`` (Web API, ``msg_too_long``)."""

EMPTY = "\u2026"
"""Stands for a text in which nothing can be seen: Slack takes no empty one."""

PART, PREVIEW = "millpond_part", "millpond_preview"
"""The types of our messages' metadata."""

NO_FORM = frozenset(
    {
        *("invalid_arguments", "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long"),
        *("no_text", "markdown_text_conflict", "unsupported_argument", "invalid_form_data"),
    }
)
"""What is refused of a text in one form may be taken in another."""

NO_THREAD = frozenset({"thread_not_found", "cannot_reply_to_message", "invalid_thread_ts"})
"""The message that a thread hangs from was deleted, or is itself an answer."""

NO_METADATA = frozenset(
    {
        *("invalid_metadata_format", "invalid_metadata_schema", "metadata_too_large"),
        *("metadata_must_be_sent_from_app", "invalid_metadata_filter_keys"),
    }
)
"""A workspace that wants no metadata gets the message without: it is then found by its text."""

_blank_lines = re.compile(r"\A(?:[ \t]*\n)+")
"""Models begin with some, and the reply has none: it would not go on with what was shown."""
_own_marks = re.compile(
    r"<(?=!(?:channel|here|everyone|group|subteam\b)|[a-z][a-z0-9+.-]*:[^<>\s|]*\||(?!https?:)[a-z][a-z0-9+.-]*://)",
    re.IGNORECASE,
)
"""Marks of Slack's own that call a crowd, or hide where a link goes, and addresses that act in an app."""
_half_escaped = re.compile(r"&(?=(?:amp|lt|gt);)")


@dataclass(kw_only=True)
class TextForms:
    """What a request says, which gets plainer with every refusal; only a definite no makes it so."""

    fields: dict[str, Any]
    forms: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Of its text, the best one first."""

    @property
    def params(self) -> dict[str, Any]:
        """The parameters, as they are to be sent next."""
        return {**self.fields, **self.forms[0]} if self.forms else self.fields

    def eased(self, error: str) -> bool:
        """Leave out what Slack refuses; False: there is nothing of the kind."""
        if error in NO_THREAD and "thread_ts" in self.fields:
            del self.fields["thread_ts"]  # what was asked there is answered in the channel itself
        elif error in NO_METADATA and "metadata" in self.fields:
            del self.fields["metadata"]
        elif error in NO_FORM and len(self.forms) > 1:
            del self.forms[0]
        else:
            return False
        return True


def length(text: str) -> int:
    """How much of a message a text takes, of ``MARKDOWN_MAX``: its characters, or more where many are escaped."""
    of_blocks = len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))
    return max(len(text), -(-of_blocks * MARKDOWN_MAX // BLOCKS_MAX))


def forms_of(text: str) -> list[dict[str, Any]]:
    """The forms of a text: as Markdown, else as it was written."""
    shown = clean(text)
    plain = escaped(shown)
    forms: list[dict[str, Any]] = [{"markdown_text": shown}]
    return [*forms, {"text": plain}] if len(plain) <= TEXT_MAX else forms


def clean(text: str) -> str:
    """``text`` as JSON and Slack take it, and such that it calls no crowd: a model repeats what it has read.

    Its links show their targets, those in Slack's own form (``<target|text>``) too.

    What was clean stays the beginning of what is cleaned with more behind it, nearly always.
    """
    text = sound(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd"))
    text = _own_marks.sub("<\u2060", honest(_blank_lines.sub("", text)))
    return text if text.strip() else EMPTY


def escaped(text: str) -> str:
    """``text`` in Slack's own form, in which what stands in angle brackets means something."""
    return _half_escaped.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")


def metadata_of(part: Part) -> dict[str, Any]:
    """What a message of ours is known by to a process that knows nothing else of it."""
    kind = PREVIEW if part.preview else PART
    payload = {"reply": part.reply, "part": part.number, "attempt": part.attempt}
    return {"event_type": kind, "event_payload": payload}


# Calls that say something: in the first wording that Slack takes, and within a time.

_is_ts = re.compile(r"\d{1,10}\.\d{1,9}", re.ASCII).fullmatch


async def said(api: Api, method: str, wording: TextForms, deadline: float, *, key: str = "") -> dict[str, Any]:
    """Slack's answer to the first accepted wording. Errors as for ``Api.call``."""
    while True:
        try:
            return await api.call(method, wording.params, timeout_s=left_s(deadline), key=key)
        except Rejected as no:
            if not wording.eased(no.error):
                raise


def left_s(deadline: float) -> float:
    """Seconds until then, by the event loop's clock.

    Raises:
        SendRefused: there are none left.
    """
    seconds = deadline - anyio.current_time()
    if seconds <= 0:
        raise SendRefused("the message could not be sent before the time limit expired")
    return seconds


def is_ts(platform_id: str) -> bool:
    """Whether it names a message, and no file or nothing."""
    return _is_ts(platform_id) is not None


def ts_of(found: Mapping[str, Any]) -> str:
    """The message's ID; empty if Slack accepted the message without returning it."""
    ts = found.get("ts")
    return ts if isinstance(ts, str) else ""

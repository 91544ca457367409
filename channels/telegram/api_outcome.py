"""What an answer of the Bot API means for whoever asked. Pure."""

import msgspec

from daemon.errors import SendRefused, SendRejected, SendUnknown

LONG_REST_S = 60.0
"""Pause when only a person can help: a wrong token, an address without a Bot API behind it."""

TOO_LARGE = 413
"""Status of a proxy that lets no request of this size through."""


HOPELESS = (
    *("chat not found", "bot was blocked", "user is deactivated", "not enough rights", "have no rights"),
    *("bot was kicked", "topic_closed", "chat_write_forbidden", "message to edit not found", "message can't be edited"),
    *("not modified", "message thread not found", "peer_id_invalid", "group chat was upgraded", "bot can't initiate"),
    *("forbidden", "message_id_invalid"),
)
"""What is refused whatever the form."""

KNOWN = (*HOPELESS, "can't parse", "too long", "is empty", "not found", "terminated by other getupdates", "webhook")
"""Words of the server that a log may hold. Others may quote a message."""


class Unreached(SendRefused):
    """The server cannot be reached; nothing was sent."""


class Unauthorized(SendRefused):
    """The server does not know the token; only a person can help."""


class NoMethod(SendRefused):
    """The server does not know the method, or the token is none at all: it says the same of both."""


class Conflict(SendRefused):
    """Somebody else asks for the updates of this bot, or a webhook is set; what was asked was not done."""

    def __init__(self, message: str, *, webhook: bool, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.webhook = webhook
        """Whether it is a webhook, and no second one that asks."""


class Rejected(SendRejected):
    """The Bot API says why it does not do what was asked."""

    def __init__(self, message: str, *, description: str, moved_to: int = 0, brief: str = "") -> None:
        super().__init__(message, brief=brief)
        self.description = description.lower()
        """The server's words, in small letters."""
        self.moved_to = moved_to
        """Id of the supergroup that the chat has become; 0: it has not."""

    def says(self, *words: str) -> bool:
        """Whether any of these stands in the server's words."""
        return any(word in self.description for word in words)


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """What a refusal says for machines."""

    retry_after: float | None = None
    migrate_to_chat_id: int = 0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the server says to every call."""

    ok: bool
    result: msgspec.Raw = msgspec.Raw(b"null")
    error_code: int = 0
    description: str = ""
    parameters: Parameters = Parameters()


def judged(answer: Answer | None, *, status: int, method: str, base: str) -> msgspec.Raw:
    """The result of a call, or the error that it comes to. Errors as for ``Api.call``.

    ``answer`` is None when what came is no answer of the Bot API: a page of something between it and us.
    """
    if answer is None:
        raise _foreign(status, method, base)
    if answer.ok:
        return answer.result
    code, said = answer.error_code or status, answer.description
    text = f"Telegram answered {method} with the error {code}"
    known = next((words for words in KNOWN if words in said.lower()), "")
    brief, text = f"{text}: {known}" if known else text, f"{text}: {said}"
    if code == 429:
        raise SendRefused(text, retry_after_s=answer.parameters.retry_after, brief=brief)
    if code >= 500:
        raise SendRefused(text, brief=brief)
    if code == 401:
        raise Unauthorized(f"{text}. Check the token.", retry_after_s=LONG_REST_S, brief=brief)
    if code == 404:
        raise NoMethod(f"{text}. Check the token.", retry_after_s=LONG_REST_S, brief=brief)
    if code == 409:
        raise Conflict(text, webhook="webhook" in said.lower(), brief=brief)
    raise Rejected(text, description=said, moved_to=answer.parameters.migrate_to_chat_id, brief=brief)


def _foreign(status: int, method: str, base: str) -> Exception:
    """What to make of an answer that is not the Bot API's."""
    text = f"{base} did not answer {method} with valid JSON of the Bot API (status {status})"
    if status == TOO_LARGE:
        return Rejected(text, description="")
    # A gateway that got no answer in time, and a page that says it went well: what was sent may have arrived.
    if status == 504 or 200 <= status < 300:
        return SendUnknown(text)
    if status == 429 or status >= 500:
        return SendRefused(text)
    return SendRefused(f"{text}. Check base_url.", retry_after_s=LONG_REST_S)

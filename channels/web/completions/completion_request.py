"""The request of a client: its newest user message, and the session that the message belongs to. Pure.

Source of the form: OpenAI's reference, "Create chat completion".
"""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import UNSET, UnsetType
from starlette.exceptions import HTTPException

from daemon.sessionkey import SessionKey

SESSION_HEADER = "X-Millpond-Session"
PERSON_HEADERS = ("X-Millpond-User", "X-OpenWebUI-User-Id")
THREAD_HEADERS = (SESSION_HEADER, "X-OpenWebUI-Chat-Id")
"""Open WebUI sends its headers if ``ENABLE_FORWARD_USER_INFO_HEADERS`` is set."""

DEFAULT_CHAT = "openai"
"""The chat of requests that name neither a person nor a session."""

TASK, TASK_HISTORY = "### Task:", "<chat_history>"
"""Parts of the prompts by which Open WebUI asks for titles, tags and follow-up questions."""

FORM = (
    "The request body must be an object {model, messages, stream?, user?} as in OpenAI's Chat Completions API. Each "
    "message is an object {role, content}."
)
NO_TEXT = "The field messages contains no text with the role user. Add a message {role: user, content: <text>}."
NOT_TEXT = "Only text can be sent to this endpoint. Remove the part of type {kind!r} from the newest user message."
ONE_CHOICE = "A bot gives one answer to each message. Remove the field n, or set n to 1."
NO_TASKS = (
    "This request is an automatic task of the client, such as writing a title. The task was refused, because its text "
    "would become part of the conversation. Select another model for automatic tasks in the client's settings."
)


class ModelNotFound(Exception):
    """A request names a model that this address does not offer."""


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    text: str = ""


class _Message(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    # Raw: only the newest user message is read.
    content: msgspec.Raw = msgspec.Raw(b"null")


class _StreamOptions(msgspec.Struct, frozen=True, kw_only=True):
    include_usage: bool = False


class _Body(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that are read; all others are ignored, as the bot has its own settings."""

    model: str
    messages: list[_Message]
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    user: str | None = None
    n: int | UnsetType | None = UNSET


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request that can be answered."""

    key: SessionKey
    text: str
    is_streamed: bool
    wants_usage: bool


_decode_body = msgspec.json.Decoder(_Body).decode
_Content = str | list[_Part] | None
_decode_content: Callable[[bytes | msgspec.Raw], _Content] = msgspec.json.Decoder(_Content).decode


def asked(body: bytes, headers: Mapping[str, str], *, channel: str, bot: str) -> Asked:
    """The request in ``body``.

    Args:
        body: JSON in UTF-8.
        headers: of the request, found by name in any case.
        channel: the name of the web channel.
        bot: the name of the bot, which is the only model.

    Raises:
        HTTPException: 400, the request cannot be answered.
        ModelNotFound: the request names another model.
        BadSessionKey, ForeignSession: the session cannot be used.
    """
    try:
        found = _decode_body(body)
        if found.model != bot:
            raise ModelNotFound(f"The model {found.model[:80]!r} was not found. This address offers the model {bot!r}.")
        if found.n not in (UNSET, None, 1):
            raise HTTPException(400, ONE_CHOICE)
        text = _newest_text(found.messages)
    except UnicodeDecodeError:
        raise HTTPException(400, "The request body is not valid UTF-8. Encode it as UTF-8.") from None
    except msgspec.ValidationError as error:
        raise HTTPException(400, f"{error}. {FORM}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise HTTPException(400, f"The request body is not valid JSON: {error}") from None
    if text.startswith(TASK) and TASK_HISTORY in text:
        raise HTTPException(400, NO_TASKS)
    return Asked(
        key=session_of(headers, found.user or "", channel=channel),
        text=text,
        is_streamed=bool(found.stream),
        wants_usage=found.stream_options is not None and found.stream_options.include_usage,
    )


def session_of(headers: Mapping[str, str], user: str, *, channel: str) -> SessionKey:
    """The session of a request: a chat for each person, and a thread for each further conversation of the person.

    Without a person, the header names the chat itself.

    Raises:
        BadSessionKey: a name cannot be used.
    """
    person = _first(headers, PERSON_HEADERS) or user
    session = _first(headers, THREAD_HEADERS)
    if not person:
        return SessionKey.of_channel(session or DEFAULT_CHAT, channel)
    key = SessionKey(channel=channel, chat=person, thread=session)
    return SessionKey.parse(str(key))  # which refuses characters that a key cannot contain


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value.strip() for name in names if (value := headers.get(name, "")).strip()), "")


def _newest_text(messages: list[_Message]) -> str:
    newest = next((message for message in reversed(messages) if message.role == "user"), None)
    content = _decode_content(newest.content) if newest is not None else None
    if isinstance(content, list):
        if strange := next((part.type for part in content if part.type not in ("text", "input_text")), None):
            raise HTTPException(400, NOT_TEXT.format(kind=strange[:40]))
        content = "\n".join(part.text for part in content)
    if not (content or "").strip():
        raise HTTPException(400, NO_TEXT)
    return content or ""

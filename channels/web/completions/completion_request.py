"""The request of a client: its newest user message, and the session that the message belongs to. Pure.

Source of the form: OpenAI's reference, "Create chat completion".
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping

import msgspec
from msgspec import UNSET, UnsetType
from starlette.exceptions import HTTPException

from channels.web.message_endpoints import FILES_MAX
from daemon.sessionkey import SessionKey

SESSION_HEADER = "X-Millpond-Session"
PERSON_HEADERS = ("X-Millpond-User", "X-OpenWebUI-User-Id")
THREAD_HEADERS = (SESSION_HEADER, "X-OpenWebUI-Chat-Id")
"""Open WebUI sends its headers if ``ENABLE_FORWARD_USER_INFO_HEADERS`` is set."""

DEFAULT_CHAT = "openai"
"""The chat of requests that name neither a person nor a session."""

TASK, TASK_HISTORY = "### Task:", "<chat_history>"
"""Parts of the prompts by which Open WebUI asks for titles, tags and follow-up questions."""

TEXTS = frozenset({"text", "input_text"})
IMAGES = frozenset({"image_url", "input_image"})
"""Types of the parts of a message."""

DATA_URL = re.compile(r"data:image/(png|jpeg|webp|gif);base64,", re.IGNORECASE)
"""Beginning of a picture in a request (RFC 2397); the media types are those that OpenAI's models read."""

FORM = (
    "The request body must be an object {model, messages, stream?, user?} as in OpenAI's Chat Completions API. Each "
    "message is an object {role, content}."
)
NO_TEXT = "The messages field contains no user message with text. Add a message {role: user, content: <text>}."
NOT_TEXT = (
    "Only text and pictures can be sent to this endpoint. Remove the part of type {kind!r} from the newest user "
    "message."
)
NOT_DATA = (
    "A picture in image_url.url must be a data URL such as data:image/png;base64,<data>. Millpond does not load "
    "pictures from other sites. Send the picture itself."
)
TOO_MANY = f"A message can have at most {FILES_MAX} pictures. Send the pictures in several messages."
TOO_LARGE = "A picture can be at most {most:,} bytes in size (agent.attachment_max_bytes). Send a smaller picture."
ONE_CHOICE = "A bot returns only one answer per message. Remove the n field, or set it to 1."
NO_TASKS = (
    "This request looks like an automatic task of the client, such as generating a title. Millpond rejected "
    "the request because its text would become part of the conversation. Select another model for automatic "
    "tasks in the client's settings."
)


class ModelNotFound(Exception):
    """A request names a model that this address does not offer."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A picture of a message."""

    subtype: str
    """Of its media type: ``png``, ``jpeg``, ``webp`` or ``gif``."""
    content: bytes

    def name(self, number: int) -> str:
        """A name for the picture ``number`` of a message."""
        return f"picture-{number}.{self.subtype.replace('jpeg', 'jpg')}"


class _ImageUrl(msgspec.Struct, frozen=True, kw_only=True):
    url: str


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    text: str = ""
    image_url: _ImageUrl | str | None = None


class _Message(msgspec.Struct, frozen=True, kw_only=True):
    role: str
    # Raw: only the newest user message is read, and pictures before it.
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


class CompletionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that can be answered."""

    key: SessionKey
    text: str
    pictures: tuple[Picture, ...] = ()
    is_streamed: bool
    wants_usage: bool


_decode_body = msgspec.json.Decoder(_Body).decode
_Content = str | list[_Part] | None
_decode_content: Callable[[bytes | msgspec.Raw], _Content] = msgspec.json.Decoder(_Content).decode


def asked(body: bytes, headers: Mapping[str, str], *, channel: str, bot: str) -> CompletionRequest:
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
            raise ModelNotFound(f"Model {found.model[:80]!r} was not found. This address serves the {bot!r} model.")
        if found.n not in (UNSET, None, 1):
            raise HTTPException(400, ONE_CHOICE)
        text, pictures = _newest(found.messages)
    except UnicodeDecodeError:
        raise HTTPException(400, "The request body is not valid UTF-8. Encode it as UTF-8.") from None
    except msgspec.ValidationError as error:
        raise HTTPException(400, f"{error}. {FORM}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise HTTPException(400, f"The request body is not valid JSON: {error}") from None
    if text.startswith(TASK) and TASK_HISTORY in text:
        raise HTTPException(400, NO_TASKS)
    return CompletionRequest(
        key=session_of(headers, found.user or "", channel=channel),
        text=text,
        pictures=pictures,
        is_streamed=bool(found.stream),
        wants_usage=found.stream_options is not None and found.stream_options.include_usage,
    )


def session_of(headers: Mapping[str, str], user: str, *, channel: str) -> SessionKey:
    """The session of a request: a chat for each person, and a thread for each further conversation of the person.

    Without a person, the header names the chat itself.

    Raises:
        BadSessionKey: a name cannot be used.
    """
    person = _first(headers, PERSON_HEADERS) or user.strip(" ")
    session = _first(headers, THREAD_HEADERS)
    if not person:
        return SessionKey.of_channel(session or DEFAULT_CHAT, channel)
    key = SessionKey(channel=channel, chat=person, thread=session)
    return SessionKey.parse(str(key))  # which refuses characters that a key cannot contain


def _first(headers: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((value.strip() for name in names if (value := headers.get(name, "")).strip()), "")


def _newest(messages: list[_Message]) -> tuple[str, tuple[Picture, ...]]:
    """The text and the pictures of the newest user message."""
    last = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].role == "user"), -1)
    parts = _parts(messages[last]) if last >= 0 else []
    # Some front ends (Gradio 6.31) send each picture of a message as a message of its own before the text.
    while last > 0 and messages[last - 1].role == "user" and _is_pictures(before := _parts(messages[last - 1])):
        parts, last = before + parts, last - 1
    texts = [part.text for part in parts if part.type in TEXTS]
    images = [part for part in parts if part.type in IMAGES]
    if strange := next((part.type for part in parts if part.type not in TEXTS | IMAGES), None):
        raise HTTPException(400, NOT_TEXT.format(kind=strange[:40]))
    if len(images) > FILES_MAX:
        raise HTTPException(400, TOO_MANY)
    text, pictures = "\n".join(texts), tuple(map(_picture, images))
    if not text.strip() and not pictures:
        raise HTTPException(400, NO_TEXT)
    return text, pictures


def _parts(message: _Message) -> list[_Part]:
    content = _decode_content(message.content)
    return content if isinstance(content, list) else [_Part(type="text", text=content or "")]


def _is_pictures(parts: list[_Part]) -> bool:
    return bool(parts) and all(part.type in IMAGES for part in parts)


def _picture(part: _Part) -> Picture:
    url = part.image_url.url if isinstance(part.image_url, _ImageUrl) else part.image_url or ""
    found = DATA_URL.match(url)
    try:
        content = base64.b64decode(url[found.end() :], validate=True) if found else b""
    except binascii.Error:
        content = b""
    if found is None or not content:
        raise HTTPException(400, NOT_DATA)
    return Picture(subtype=found[1].lower(), content=content)

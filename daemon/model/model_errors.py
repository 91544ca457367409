"""Every exception of the openai SDK and of httpx2, its HTTP library, in Millpond's terms: one table, one place.

Other SDKs add theirs to the table where they are used (``daemon.model.anthropic.anthropic_model``).

Texts name the model, the host and what to do. A server's own words are quoted, shortened, with the key cut out; not in
``brief``, which is for logs: they may quote the conversation.
"""

import datetime as dt
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import cast

import httpx2
import msgspec
import openai

from daemon.config.secret import Secret, without
from daemon.errors import (
    ContentFiltered,
    ContextOverflow,
    InvalidAnswer,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    RateLimited,
    SetupFault,
    Unreachable,
)
from daemon.model.setup_faults import STATUSES, connection_fault, status_of

KINDS: Mapping[type[BaseException], type[ModelError]] = {
    # What a status says is read from the status: see ``by_status``. Listed for those without one.
    openai.APIStatusError: ModelRefused,
    httpx2.HTTPStatusError: ModelRefused,
    # Nobody there, or gone in the middle.
    openai.APIConnectionError: ModelUnavailable,
    openai.APIError: ModelUnavailable,
    httpx2.TransportError: ModelUnavailable,
    OSError: ModelUnavailable,
    # Too late. ``TimeoutError`` is what anyio's deadlines raise.
    openai.APITimeoutError: ModelTimeout,
    httpx2.TimeoutException: ModelTimeout,
    TimeoutError: ModelTimeout,
    # An address, a header or credentials that can never work.
    httpx2.InvalidURL: SetupFault,
    httpx2.UnsupportedProtocol: SetupFault,
    httpx2.LocalProtocolError: SetupFault,
    httpx2.TooManyRedirects: SetupFault,
    openai.OpenAIError: SetupFault,
    # Bytes that mean nothing.
    openai.APIResponseValidationError: InvalidAnswer,
    openai.LengthFinishReasonError: InvalidAnswer,
    openai.ContentFilterFinishReasonError: InvalidAnswer,
    openai.InvalidWebhookSignatureError: InvalidAnswer,
    httpx2.DecodingError: InvalidAnswer,
    httpx2.SSEError: InvalidAnswer,
    httpx2.CookieConflict: InvalidAnswer,
    json.JSONDecodeError: InvalidAnswer,
    msgspec.MsgspecError: InvalidAnswer,
    UnicodeError: InvalidAnswer,
    RecursionError: InvalidAnswer,
    # Parts of the libraries that are not in use here; reaching them is a broken connection's doing.
    openai.WebSocketConnectionClosedError: ModelUnavailable,
    openai.WebSocketQueueFullError: ModelUnavailable,
    httpx2.StreamError: ModelUnavailable,
    httpx2.RequestError: ModelUnavailable,
    httpx2.HTTPError: ModelUnavailable,
}
"""The nearest class in an exception's line of ancestors decides."""

FOREIGN = tuple(KINDS)
"""What is caught around a call."""


class Refusal(Exception):
    """A response with an error status, whichever SDK read it."""

    def __init__(self, response: httpx2.Response, body: object) -> None:
        super().__init__(f"status {response.status_code}")
        self.response = response
        self.status = response.status_code
        self.body = _fields(body).get("error", body)
        """The error that the server describes, decoded where it is JSON."""


QUOTE_CHARS = 300
"""Longest quotation of a server's words."""

_OVERFLOW = (
    "context_length_exceeded",  # OpenAI's code
    "exceed_context_size",  # llama.cpp's type
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "reduce the length of the messages",
    "exceeded model token limit",  # Kimi
    "prompt exceeds max length",  # GLM
    "exceed context limit",  # Anthropic: input length and max_tokens together
    "maximum prompt length",  # xAI
    "input token count",  # Gemini
    "range of input length",  # Qwen
    "maximum model length",  # vLLM
    "request body too large",  # Anthropic, GitHub: 413
    "request too large",
    "request_too_large",  # Anthropic's type
    "too many tokens",
    "token limit",
    "tokens exceed",
    "larger than the max",  # Mistral
    "model's max",
    "prompt token count",  # GitHub Copilot
    "context overflow",
    "context_window_exceeded",  # LiteLLM
    "contextwindowexceeded",
    "maximum input length",
    "input length",
    "input tokens exceed",
    "prompt too long",
    "prompt length",
    "maximum number of tokens",  # Bedrock, Cerebras
    "maximum sequence length",
    "message size",  # Groq's limit per minute
    "must be reduced",  # OpenAI's limit per minute, for a request that is larger by itself
    "上下文",
    "输入长度",
    "超长",
)
_ANSWER_LIMIT = re.compile(r"max_(?:completion_|new_|output_)?tokens")
"""Parameters whose own limits are not those of a prompt."""

_OF_OUTPUT = ("tool_use_failed", "failed_generation", "json_validate_failed", "malformed_function_call")
"""The model wrote something that its server could not read (Groq, Gemini)."""

_TRANSIENT = frozenset({408, 425, 498})
"""Statuses below 500 that pass: a time-out, "too early", and a server without capacity (Groq)."""

_FILTERED = (
    "content_filter",  # Azure's and Kimi's code
    "content management policy",  # Azure
    "content_policy_violation",  # OpenAI
    "usage policy",
    "usage policies",
    "data_inspection_failed",  # Qwen
    "datainspectionfailed",
    "inappropriate content",
    "content exists risk",  # DeepSeek
    "considered high risk",  # Kimi
    "prohibited_content",  # Gemini
    "sensitive content",
    "敏感",  # GLM
)


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model and its server, as named in errors."""

    model: str
    host: str
    key: Secret
    variable: str = "OPENAI_API_KEY"
    """Names the key where the configuration does not."""
    of: str = ""
    """Whose own fields an answer has (``daemon.model.provider_fields.identity``); empty: those of host and model."""

    def __str__(self) -> str:
        return f"model {self.model!r} at {self.host}"

    def quote(self, body: object) -> str:
        """The words of an error body on one short line, without the key."""
        text = without(" ".join(_words(body).split()), self.key)
        return text if len(text) <= QUOTE_CHARS else text[:QUOTE_CHARS] + "…"


def translated(
    error: BaseException,
    endpoint: Endpoint,
    now: dt.datetime,
    kinds: Mapping[type[BaseException], type[ModelError]] = KINDS,
) -> ModelError:
    """``error`` as one of ours.

    Args:
        error: of a library.
        endpoint: the model that was called.
        now: for servers that say when to come back as a date.
        kinds: what each class of errors means.
    """
    if isinstance(error, openai.APIStatusError):
        error = Refusal(error.response, error.body)
    if isinstance(error, Refusal):
        retry_s = retry_after_s(error.response.headers, now)
        return by_status(
            error.status, error.body, endpoint, _retry_said_s(error.response.text) if retry_s is None else retry_s
        )
    kind = next((kinds[ancestor] for ancestor in type(error).__mro__ if ancestor in kinds), ModelUnavailable)
    if issubclass(kind, ModelUnavailable) and (sentence := connection_fault(_chain(error), endpoint.host)):
        return Unreachable(sentence)
    return kind(f"{_SAYINGS[kind].format(endpoint=endpoint)} ({type(error).__name__}). {_ADVICE[kind]}")


def by_status(status: int, body: object, endpoint: Endpoint, retry_s: float | None = None) -> ModelError:
    """The error that a status and an error body mean, whether they came as a response or inside a stream."""
    words = endpoint.quote(body)
    if (status in (400, 413, 422, 429) or status >= 500) and is_overflow(body):
        text, advice = f"the prompt is too large for {endpoint}", "Check context_window_tokens."
        return ContextOverflow(f"{text}: {words}. {advice}", brief=f"{text}. {advice}")
    if status in (400, 403, 422, 451) and is_filtered(body):
        text = f"the content filter of {endpoint} blocked the request ({status})"
        return ContentFiltered(f"{text}: {words}", status=status, brief=text)
    if (meant := status_of(status, _said(body))) is not None:
        return _setup_fault(meant, endpoint, "" if meant in (401, 403) else words)
    if status == 429:
        later = f"Try again in {retry_s:g} s." if retry_s is not None else "Try again later."
        text = f"{endpoint} is rate-limiting requests (429): {words}. {later}"
        return RateLimited(text, retry_after_s=retry_s, brief=rate_limited(endpoint))
    if status in _TRANSIENT or status >= 500:
        text, later = f"{endpoint} failed ({status})", "Try again later."
        return ModelUnavailable(f"{text}: {words}. {later}", brief=f"{text}. {later}", retry_after_s=retry_s)
    return _refused(status, body, endpoint, words)


def rate_limited(endpoint: Endpoint) -> str:
    """A rate limit in brief."""
    return f"{endpoint} is rate-limiting requests (429). Try again later."


def _refused(status: int, body: object, endpoint: Endpoint, words: str) -> ModelError:
    if is_of_output(body):
        text = f"the server could not parse the output of {endpoint} ({status})"
        return InvalidAnswer(f"{text}: {words}", brief=text)
    text = f"{endpoint} rejected the request ({status})"
    brief = ", ".join((text, *_codes(body)))
    return ModelRefused(f"{text}: {words}. Check the bot's model settings.", status=status, brief=brief)


def _setup_fault(status: int, endpoint: Endpoint, words: str) -> SetupFault:
    """``words`` are the server's; none where they often repeat the key."""
    sentence = STATUSES[status].format(variable=endpoint.variable, status=status)
    brief = f"{sentence} ({endpoint})"
    return SetupFault(f"{brief}: {words}" if words else brief, status=status, brief=brief)


def _codes(body: object) -> list[str]:
    """The codes of an error body, which no server makes from a conversation."""
    fields = _fields(body)
    found = (fields.get(name) for name in ("code", "type", "param"))
    return [value for value in found if isinstance(value, str) and _CODE.fullmatch(value)]


_CODE = re.compile(r"[a-zA-Z][\w.\[\]-]{0,60}")


def reported(body: object, endpoint: Endpoint) -> ModelError:
    """The error that a server reports inside an answer it had begun with status 200."""
    fields = _fields(body)
    code, text = str(fields.get("code") or fields.get("status")), _words(body).lower()
    if is_overflow(body) or is_filtered(body) or status_of(400, _said(body)):
        return by_status(400, body, endpoint)
    if code.isdecimal() and 400 <= int(code) < 600:
        return by_status(int(code), body, endpoint)
    names = f"{code} {fields.get('type')}".lower()
    if status := next((_TYPES[name] for name in _TYPES if name in names), None):
        return by_status(status, body, endpoint)
    if any(words in f"{names} {text}" for words in _LIMITED):
        return by_status(429, body, endpoint)
    return by_status(400 if "invalid_request" in names else 500, body, endpoint)


_LIMITED = ("rate_limit", "rate limit", "ratelimit", "too many requests", "resource_exhausted")
_TYPES: Mapping[str, int] = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
}
"""Statuses of Anthropic's types of errors that no later call gets around (https://platform.claude.com/docs/en/api/errors)."""


def is_overflow(body: object) -> bool:
    """Whether an error body says that the prompt does not fit, in the common servers' words."""
    text = _ANSWER_LIMIT.sub("", _said(body))
    return any(wording in text for wording in _OVERFLOW)


def is_of_output(body: object) -> bool:
    """Whether an error body says that the model's own output could not be read, in the common servers' words."""
    return _says(body, _OF_OUTPUT)


def is_filtered(body: object) -> bool:
    """Whether an error body says that a filter refuses the prompt for its content, in the common servers' words."""
    return _says(body, _FILTERED)


def retry_after_s(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Seconds to wait as ``retry-after-ms`` or ``retry-after`` says it (RFC 9110 10.2.3); None: not said."""
    milliseconds, after = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    for text, unit_s in ((milliseconds, 0.001), (after, 1.0)):
        seconds = _number(text)
        if seconds is not None:
            return max(0.0, seconds * unit_s)
    try:
        moment = parsedate_to_datetime(after)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or dt.UTC) - now).total_seconds())


_RETRY = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(?P<m>\d+)m ?)?(?P<n>\d+(?:\.\d+)?) ?(?P<unit>ms|s|sec)"
    r"|retrydelay\W{1,5}(?P<delay>\d+(?:\.\d+)?)s",
    re.IGNORECASE,
)


def _retry_said_s(text: str) -> float | None:
    """Seconds to wait as the text of a refusal says it (OpenAI, Groq, Gemini); None: not said."""
    if (found := _RETRY.search(text)) is None:
        return None
    if found["delay"]:
        return float(found["delay"])
    return int(found["m"] or 0) * 60 + float(found["n"]) * (0.001 if found["unit"].lower() == "ms" else 1.0)


def shows(error: BaseException, key: Secret) -> bool:
    """Whether the key stands in the text of ``error`` or of what it came from."""
    return any(without(text, key) != text for link in _chain(error) for text in (f"{link} {link!r}",))


def _says(body: object, wordings: Iterable[str]) -> bool:
    text = _said(body)
    return any(wording in text for wording in wordings)


def _said(body: object) -> str:
    """Code, type and words of an error body, in lower case; all of what is no JSON."""
    fields = _fields(body)
    words = body if isinstance(body, str) else _words(body)
    return f"{fields.get('code')} {fields.get('type')} {words}".lower()


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _fields(body: object) -> dict[str, object]:
    if isinstance(body, list) and body:  # Gemini's
        body = cast("list[object]", body)[0]
    return cast("dict[str, object]", body) if isinstance(body, dict) else {}


def _words(body: object) -> str:
    """What an error body says, whatever its shape."""
    if fields := _fields(body):
        said = next(
            (fields[name] for name in ("message", "detail", "error", "msg", "errors") if fields.get(name)), None
        )
        inner = _fields(fields.get("metadata")).get("raw")  # OpenRouter: the words of the server behind it
        text = _words(said) if said else msgspec.json.encode(fields).decode()
        return f"{text}: {_words(inner)}" if inner else text
    if isinstance(body, str):
        return "a web page" if body.lstrip()[:1] == "<" else body
    return msgspec.json.encode(body).decode() if body else "no reason given"


_SAYINGS: Mapping[type[ModelError], str] = {
    ModelUnavailable: "{endpoint} cannot be reached, or closed the connection",
    ModelTimeout: "{endpoint} did not respond in time",
    ModelRefused: "{endpoint} cannot be called",
    SetupFault: "{endpoint} cannot be called",
    InvalidAnswer: "{endpoint} sent an answer that cannot be parsed",
}
_ADVICE: Mapping[type[ModelError], str] = {
    ModelUnavailable: "Check base_url and the network.",
    ModelTimeout: "See call_timeout_s and chunk_timeout_s.",
    ModelRefused: "Check base_url, the key and the proxy settings.",
    SetupFault: "Check base_url, the key and the proxy settings.",
    InvalidAnswer: "Check that base_url and api match the server.",
}

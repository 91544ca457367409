"""A server's dialect: which parameters of the chat completions API it takes, and the request body in its terms.

It begins with what is known of the provider, and learns from each request that was refused for its form.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Literal
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from daemon.config.schema import ModelConfig
from daemon.model.adaptation import MODELS, MessageForm, adapted, is_of_order, marked, plain
from daemon.model.chat_model import Request
from daemon.model.provider_fields import identity

_json = msgspec.json.encode

_NOT_TAKEN = re.compile(
    r"not (?:be )?(?:supported|permitted|allowed|accepted|available|enabled)|unsupported|unexpected|unknown"
    r"|unrecogni[sz]ed|(?:does|do|is|are)(?: not|n't) (?:support|accept|allow)|extra|invalid"
    r"|requires --|disabled|no endpoints found"
)
_UNKNOWN = re.compile(r"unknown|unrecogni[sz]ed|unsupported|not supported|extra|unexpected")
_TOOLS = re.compile(r"\btools?\b|function.?call|tool.?(?:use|choice)")
_CHOICE = re.compile(r"tool[_ ]choice(?! requires)")
_IDS = re.compile(r"tool.?call.?id|call[_ ]id|\bids?\b.*(?:length|charact|pattern|a-z|match|nine|\b9\b)")
_SCHEMA = re.compile(
    r"additional_?properties|schema|(?:any|one|all)_?of\b|(?:min|max)_?(?:length|items|properties)\b|\bstrict\b"
    r"|exclusive_?m(?:in|ax)imum|parameters\.properties|function_declarations|tools?(?:\.|\[)\d|grammar"
    r"|unknown (?:name|keyword).*\btools\b"
)
"""Keywords of JSON Schema, and the parts of a request that hold it."""
_OWN = re.compile(r"reasoning|thought|thinking|signature|extra_content")
_STREAM = re.compile(r"\bstream(?:ing)?\b")
_ANSWER = re.compile(r"max_?(?:completion|new|output)?_?tokens|(?:completion|output) tokens")
_TOO_MUCH = re.compile(
    r"too (?:large|big|high|many|long)|exceed|less than|at most|must be|maximum|range|limit|<|最大|超"
)
_NUMBER = re.compile(r"(?<![a-z0-9_.,-])(\d{1,3}(?:,\d{3})+|\d{3,6})(?![a-z0-9_-]|[.,]\d)")
_STATUSES = frozenset({400, 404, 413, 422, 500})
"""Numbers in an error body that limit nothing."""
_WINDOW = re.compile(r"context (?:length|window|size)\D{0,30}?(\d{3,7})")
LIMIT_LEAST = 256
"""Tokens: no server's limit of an answer is below it, and a shorter one would help nobody."""
_PLAIN = MessageForm()


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a model's server."""

    limit: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    """How the largest answer is said; older servers know ``max_tokens`` only."""
    limit_most: int | None = None
    """The largest number that it takes there; None: it has refused none."""
    stream: bool = True
    """Whether the answer may come as a stream."""
    usage: bool = True
    """Whether ``stream_options`` may ask for the usage of a stream."""
    force: bool = True
    """Whether ``tool_choice`` may force a tool."""
    tools: bool = True
    """Whether there may be tools at all."""
    cache: bool = True
    """Whether parts of a prompt may be marked to be cached, with Anthropic's API."""
    marks: bool = False
    """Whether parts of a prompt for Anthropic's models are marked to be cached, with the chat completions API."""
    key: bool = True
    """Whether ``prompt_cache_key`` may name the requests that begin alike."""
    schemas: Literal["full", "plain"] = "full"
    """Whether the parameters of tools may have all of JSON Schema, or only its common keywords."""
    form: MessageForm = _PLAIN
    """How messages are written."""

    def without(self, refused: str, request: Request) -> "Dialect | None":
        """The dialect to ask ``request`` in after the server's text ``refused``; None if it names nothing of it."""
        text = refused.lower()
        changes = (
            *(self._key, self._usage, self._force, self._limit, self._stream, self._cache),
            *(self._schemas, self._tools, self._messages),
        )
        return next((changed for change in changes if (changed := change(text, request)) is not None), None)

    def _key(self, text: str, _request: Request) -> "Dialect | None":
        return replace(self, key=False) if self.key and "prompt_cache_key" in text else None

    def _usage(self, text: str, _request: Request) -> "Dialect | None":
        return replace(self, usage=False) if self.usage and "stream_options" in text else None

    def _force(self, text: str, request: Request) -> "Dialect | None":
        return replace(self, force=False) if self.force and request.force_tool and _CHOICE.search(text) else None

    def _limit(self, text: str, request: Request) -> "Dialect | None":
        if not _ANSWER.search(text):
            return None
        most = self.most(request)
        if not _UNKNOWN.search(text):
            found = {int(number.replace(",", "")) for number in _NUMBER.findall(text)} - _STATUSES
            if fitting := [number for number in found if LIMIT_LEAST <= number < most]:
                return replace(self, limit_most=max(fitting))
            if _TOO_MUCH.search(text) and most // 2 >= LIMIT_LEAST:
                return replace(self, limit_most=most // 2)
        if self.limit == "max_completion_tokens" and self.limit in text:
            return replace(self, limit="max_tokens")
        if self.limit == "max_tokens" and "max_completion_tokens" in text and _NOT_TAKEN.search(text):
            return replace(self, limit="max_completion_tokens")
        return None

    def with_room(self, refused: str, request: Request) -> "Dialect | None":
        """The dialect after an overflow of a window that the answer alone fills by half; None: the prompt does."""
        window = _WINDOW.search(refused.lower())
        most = max(LIMIT_LEAST, int(window[1]) // 4) if window else self.most(request)
        return replace(self, limit_most=most) if window and self.most(request) > int(window[1]) // 2 else None

    def plainer(self) -> "Iterator[Dialect]":
        """Dialects to try in turn after a refusal that nobody understands: what most servers take."""
        form = replace(self.form, ids="nine", content="empty", arguments="object")
        plain = replace(
            self, limit="max_tokens", usage=False, force=False, marks=False, key=False, schemas="plain", form=form
        )
        yield plain
        form = replace(form, system="user", alternate=True)
        yield replace(plain, form=form)
        if self.form.own == "turn":
            yield replace(plain, form=replace(form, own="window"))
        if self.form.own != "none":
            yield replace(plain, form=replace(form, own="none"))

    def _stream(self, text: str, _request: Request) -> "Dialect | None":
        return replace(self, stream=False) if self.stream and _STREAM.search(text) else None

    def _schemas(self, text: str, request: Request) -> "Dialect | None":
        if self.schemas == "full" and self.tools and request.tools and _SCHEMA.search(text):
            return replace(self, schemas="plain")
        return None

    def _tools(self, text: str, request: Request) -> "Dialect | None":
        if not (self.tools and request.tools) or _IDS.search(text) or is_of_order(text):
            return None
        return replace(self, tools=False, force=False) if _TOOLS.search(text) and _NOT_TAKEN.search(text) else None

    def _cache(self, text: str, _request: Request) -> "Dialect | None":
        if "cache_control" not in text:
            return None
        if self.marks:
            return replace(self, marks=False)
        return replace(self, cache=False) if self.cache else None

    def _messages(self, text: str, request: Request) -> "Dialect | None":
        form = self.form.otherwise(
            text,
            request.messages,
            is_id=_IDS.search(text) is not None,
            is_own=_OWN.search(text) is not None,
        )
        return None if form is None else replace(self, form=form)

    def offered(self, request: Request) -> list[bytes]:
        """The definitions of the tools in this form, JSON each; none if the server takes none."""
        return [plain(tool) if self.schemas == "plain" else tool for tool in request.tools] if self.tools else []

    def messages(self, request: Request, *, of: str) -> list[bytes]:
        """The messages in this form, JSON each; ``of`` as for ``body``."""
        if self._is_usual and b"\n" not in b",".join(request.messages):  # see ``daemon.model.adaptation.MARK``
            return [*request.messages]
        return self._rewritten(request, of=of)

    @property
    def _is_usual(self) -> bool:
        """Whether messages are sent as they are stored, unless they hold what their model alone understands."""
        return self.tools and self.form == MessageForm(own=self.form.own)

    def _rewritten(self, request: Request, *, of: str) -> list[bytes]:
        messages = adapted(request.messages, self.form, of=of, current=request.current, tools=self.tools)
        if request.force_tool and not self.tools:
            messages.append(_described(request))
        return messages

    def most(self, request: Request) -> int:
        """The largest answer to ask for, in tokens."""
        return min(request.max_completion_tokens, self.limit_most or request.max_completion_tokens)

    def body(self, model: str, request: Request, *, of: str = "") -> bytes:
        """The request as JSON; messages and tools are JSON already and are joined as they are.

        Args:
            model: its name.
            request: what is asked.
            of: whose fields are sent back, see ``daemon.model.provider_fields.identity``.
        """
        if self.marks and request.current and model.startswith(MODELS):
            return self._joined(model, request, marked(self.messages(request, of=of), request))
        if self._is_usual:
            # All of it is joined once: half a megabyte that is copied several times costs as much as sending it.
            body = self._joined(model, request, [*request.messages])
            if b"\n" not in body:
                return body
        return self._joined(model, request, self._rewritten(request, of=of))

    def _joined(self, model: str, request: Request, messages: list[bytes]) -> bytes:
        tools = self.offered(request)
        messages[0] = b'"messages":[' + messages[0]
        messages[-1] += b"]"
        fields = [b'{"model":' + _json(model), b'"stream":true' if self.stream else b'"stream":false', *messages]
        fields.append(f'"{self.limit}":{self.most(request)}'.encode())
        if self.key and request.cache_key:
            fields.append(b'"prompt_cache_key":' + _json(request.cache_key))
        if self.usage and self.stream:
            fields.append(b'"stream_options":{"include_usage":true}')
        if tools:
            fields.append(b'"tools":[' + b",".join(tools) + b"]")
        if request.force_tool and self.force and tools:
            choice = {"type": "function", "function": {"name": request.force_tool}}
            fields.append(b'"tool_choice":' + _json(choice))
        fields[-1] += b"}"
        return b",".join(fields)


def is_of_length(refused: str) -> bool:
    """Whether a refusal is about the length of the answer that was asked for."""
    text = refused.lower()
    return bool(_ANSWER.search(text) and _TOO_MUCH.search(text)) and not _UNKNOWN.search(text)


def _described(request: Request) -> bytes:
    """A tool as words, for a server that takes none: its arguments come as the text of the answer."""
    schemas = " ".join(tool.decode() for tool in request.tools)
    text = (
        f"Tools cannot be called in this request. Answer with one JSON object, the arguments of {request.force_tool}: "
        f"{schemas}"
    )
    return _json({"role": "user", "content": text})


DEFAULT_BASE_URL = "https://api.openai.com/v1"
ANTHROPIC_BASE_URL = "https://api.anthropic.com"

PROVIDERS: Mapping[str, Dialect] = {
    "mistral.ai": Dialect(limit="max_tokens", key=False, form=MessageForm(ids="nine", own="none")),
    "deepseek.com": Dialect(limit="max_tokens", form=MessageForm(own="window")),
    "moonshot.ai": Dialect(limit="max_tokens", form=MessageForm(own="window")),
    "moonshot.cn": Dialect(limit="max_tokens", form=MessageForm(own="window")),
    "groq.com": Dialect(key=False, form=MessageForm(own="none")),
    "openrouter.ai": Dialect(marks=True),
}
"""What is known beforehand, by the end of the host's name; docs/models.md tells where from."""


def host_of(base_url: str) -> str:
    """Host and port of a server's address, without a user name or password that it may hold."""
    with suppress(ValueError):  # who opens the model says so
        return urlsplit(base_url or DEFAULT_BASE_URL).netloc.rpartition("@")[2].lower()
    return ""


def server_of(config: ModelConfig) -> str:
    """The name under which a model's server is known here: its host, and its API unless that is OpenAI's.

    One host may have both, each with a dialect of its own, as DeepSeek does.
    """
    if config.api == "anthropic":
        return f"anthropic:{host_of(config.base_url or ANTHROPIC_BASE_URL)}"
    return host_of(config.base_url)


_learnt: dict[str, Dialect] = {}


def dialect_of(host: str, model: str) -> Dialect:
    """What is known by now of a server's model, by all that this process has asked it."""
    return _learnt.get(identity(host, model), known_of(host))


def known_of(host: str) -> Dialect:
    """What is known of a server before it was asked anything."""
    return next((PROVIDERS[name] for name in PROVIDERS if host.partition(":")[0].endswith(name)), Dialect())


def learn(host: str, model: str, dialect: Dialect) -> None:
    """Keep what a server's model was found to take."""
    _learnt[identity(host, model)] = dialect


def differences(known: Dialect, learnt: Dialect) -> dict[str, object]:
    """The new values in a dialect, by name: ``{"tools": False, "form.ids": "nine"}``."""
    before, after = _flat(known), _flat(learnt)
    return {name: value for name, value in after.items() if value != before[name]}


def changes(known: Dialect, learnt: Dialect) -> str:
    """The new values in a dialect, in a line for logs: ``tools=False, form.ids='nine'``."""
    return ", ".join(f"{name}={value!r}" for name, value in differences(known, learnt).items())


def _flat(dialect: Dialect) -> dict[str, object]:
    own = {name: value for name, value in msgspec.structs.asdict(dialect).items() if name != "form"}
    return own | {f"form.{name}": value for name, value in msgspec.structs.asdict(dialect.form).items()}

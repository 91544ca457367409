"""What a model's server was found to take: learnt by one process, kept in Redis for all others and for restarts.

A process learns from refusals (``daemon.model.dialect``, ``daemon.tokens.Calibration``). ``remember`` saves the facts
after a call, ``recall`` reads them before the first one. They expire after a week, because providers change; all of a
model with a guess among them after an hour.
"""

import msgspec

from daemon.bus import Bus
from daemon.config.schema import ModelConfig
from daemon.model.dialect import Dialect, dialect_of, differences, known_of, learn, server_of
from daemon.tokens import GUESS_KEPT_S, calibration

KEPT_S = 7 * 86_400
"""How long a fact is used before the server is asked anew."""


class LearntDialect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The facts about one server's model."""

    dialect: Dialect | None = None
    """None: the server has refused no parameter or form."""
    window_tokens: int | None = None
    """The largest prompt, in our tokens, that the server accepted after it refused a larger one."""
    is_guess: bool = False
    """Whether that refusal did not speak of the prompt's size; such a window is used for an hour."""
    configured_tokens: int = 0
    """The configured window at that time: another one in the configuration is tried as it is."""

    def lines(self, model: ModelConfig) -> list[str]:
        """The facts in sentences, for people."""
        found: list[str] = []
        if self.window_tokens is not None:
            found.append(
                f"the server rejected prompts larger than {self.window_tokens} tokens, so Millpond now keeps prompts "
                f"for this model below that size. Set model.context_window_tokens (now {model.context_window_tokens}) "
                "to the model's real window"
            )
        if self.dialect and (words := _words(known_of(server_of(model)), self.dialect)):
            found.append(f"Millpond adjusts its requests to this server: {', '.join(words)}")
        return found


_WORDS = {
    "limit": "the maximum answer length is sent as the parameter {value}",
    "limit_most": "answers are limited to {value} tokens",
    "stream": "answers are not streamed",
    "usage": "stream_options is not sent",
    "force": "the tool_choice setting cannot force a tool call on this server",
    "tools": "tools are not sent",
    "cache": "prompt cache markers are not sent",
    "marks": "prompt cache markers are not sent",
    "key": "prompt_cache_key is not sent",
    "schemas": "tool schemas contain only commonly supported keywords ({value})",
    "form.ids": "tool call IDs consist of nine letters and digits",
    "form.content": "messages with tool calls have {value} content",
    "form.arguments": "tool call arguments are sent as a JSON {value}",
    "form.own": "how much of the model's reasoning is sent back: {value}",
    "form.foreign": "tool calls that other models made earlier in a conversation are sent as {value}",
    "form.pictures": "pictures are not sent",
    "form.system": "the instructions are sent in a {value} message",
    "form.alternate": "consecutive messages of the same role are merged",
}
"""Facts in words, with the new value."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(LearntDialect).decode
_saved: dict[tuple[str, str], LearntDialect] = {}


async def recall(bus: Bus, model: ModelConfig) -> None:
    """Use what any process has learnt about a model and its fallbacks; errors as for ``Bus.call``."""
    for each in model.chain:
        learnt = await stored(bus, each)
        if learnt is None:
            continue
        _saved[_identity(each)] = learnt
        if learnt.dialect:
            learn(server_of(each), each.name, learnt.dialect)
        if learnt.window_tokens is not None and learnt.configured_tokens == each.context_window_tokens:
            calibration(each.name, each.base_url).fits(learnt.window_tokens, is_guess=learnt.is_guess)


async def remember(bus: Bus, model: ModelConfig) -> None:
    """Save what this process has newly learnt about a model and its fallbacks; errors as for ``Bus.call``."""
    for each in model.chain:
        learnt = learnt_of(each)
        if learnt != _saved.get(_identity(each), LearntDialect()):
            kept_s = int(GUESS_KEPT_S) if learnt.is_guess else KEPT_S
            await bus.call("SET", _key(bus, each), _encode(learnt), "EX", kept_s)
            _saved[_identity(each)] = learnt


def learnt_of(model: ModelConfig) -> LearntDialect:
    """What this process knows about one model."""
    server = server_of(model)
    dialect, calibrated = dialect_of(server, model.name), calibration(model.name, model.base_url)
    window_tokens = calibrated.window_tokens
    return LearntDialect(
        dialect=None if dialect == known_of(server) else dialect,
        window_tokens=window_tokens,
        is_guess=window_tokens is not None and calibrated.is_guess,
        configured_tokens=0 if window_tokens is None else model.context_window_tokens,
    )


async def stored(bus: Bus, model: ModelConfig) -> LearntDialect | None:
    """What is saved about one model; errors as for ``Bus.call``."""
    value: bytes | None = await bus.call("GET", _key(bus, model))
    return None if value is None else _read(value)


def _words(known: Dialect, learnt: Dialect) -> list[str]:
    """The differences, as in ``requests have ...``."""
    return [_WORDS[name].format(value=value) for name, value in differences(known, learnt).items() if name in _WORDS]


def _read(value: bytes) -> LearntDialect:
    try:
        return _decode(value)
    except msgspec.MsgspecError:  # somebody wrote it by hand; it is learnt again
        return LearntDialect()


def _identity(model: ModelConfig) -> tuple[str, str]:
    return server_of(model), model.name


def _key(bus: Bus, model: ModelConfig) -> str:
    return bus.keys.learnt(*_identity(model))

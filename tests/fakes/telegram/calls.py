"""A call of the Bot API: its parameters as they came, each read by what the documentation says that it is."""

import json
from dataclasses import dataclass, field
from typing import Any

import anyio

from tests.fakes.telegram.faults import Fault
from tests.fakes.wire import Upload


class Failed(Exception):
    """The answer ``ok: false``."""

    def __init__(self, code: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad(description: str) -> Failed:
    """400."""
    return Failed(400, f"Bad Request: {description}")


@dataclass(eq=False)
class Call:
    """One request, and what is known of how it went."""

    token: str
    method: str
    params: dict[str, Any]
    files: dict[str, Upload]
    at: float = field(default_factory=anyio.current_time)
    fault: Fault | None = None
    acted: bool = False
    """Whether what was asked for was done."""
    answer: dict[str, Any] = field(default_factory=dict[str, Any])
    """What was answered, or would have been."""
    answered: bool | None = None
    """Whether its sender took in the whole answer; None: not known yet. If not, it cannot know what became of it."""
    used: set[str] = field(default_factory=set[str])

    @property
    def ok(self) -> bool:
        return bool(self.answer.get("ok"))

    @property
    def chat(self) -> int:
        """The chat it is about; 0: none."""
        try:
            return int(self.params.get("chat_id", 0))
        except ValueError:
            return 0

    @property
    def unknown(self) -> set[str]:
        """Parameters that the method does not have; the Bot API ignores them, but nobody means to send them."""
        return (set(self.params) | set(self.files)) - self.used

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number; without a default it has to be there."""
        value = self._value(name)
        if value in (None, ""):
            if default is None:
                raise bad(f'field "{name}" must be specified' if name != "chat_id" else "chat_id is empty")
            return default
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise bad(f'field "{name}" must be a number')
        try:
            return int(value)
        except ValueError:
            raise bad(f'invalid value of "{name}" specified' if name != "chat_id" else "chat not found") from None

    def text(self, name: str, default: str = "") -> str:
        """A string, in valid UTF-8."""
        value = self._value(name)
        if value is None:
            return default
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise bad(f'field "{name}" must be of type String')
        try:
            str(value).encode()
        except UnicodeEncodeError:
            raise bad("strings must be encoded in UTF-8") from None
        return str(value)

    def flag(self, name: str) -> bool:
        """A truth value."""
        value = self._value(name)
        if value in (None, False, "false", "False", "0", 0, ""):
            return False
        if value in (True, "true", "True", "1", 1):
            return True
        raise bad(f'field "{name}" must be of type Boolean')

    def tree(self, name: str, kind: type = dict) -> Any:
        """An object or an array, itself or as JSON text; None: not there."""
        value = self._value(name)
        if isinstance(value, str) and value:
            try:
                value = json.loads(value)
            except ValueError:
                raise bad(f"can't parse {name} JSON object") from None
        if value in (None, ""):
            return None
        if not isinstance(value, kind):
            raise bad(f"object expected as {name}" if kind is dict else f"expected an Array of {name}")
        return value

    def ignored(self, *names: str) -> None:
        """Parameters that the method has and that change nothing here."""
        self.used.update(names)

    def _value(self, name: str) -> Any:
        self.used.add(name)
        return self.params.get(name)

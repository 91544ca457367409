"""A call of the Bot API: its parameters as they came, each read by what the documentation says that it is."""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes import platform
from tests.fakes.wire import Upload


class Failed(Exception):
    """The answer ``ok: false``."""

    def __init__(self, code: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters


def bad(description: str) -> Failed:
    return Failed(400, f"Bad Request: {description}")


@dataclass(eq=False)
class Call(platform.Call):
    files: dict[str, Upload] = field(default_factory=dict[str, Upload])

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
        value = self._value(name)
        if value in (None, False, "false", "False", "0", 0, ""):
            return False
        if value in (True, "true", "True", "1", 1):
            return True
        raise bad(f'field "{name}" must be of type Boolean')

    def _no_tree(self, name: str, kind: type | None) -> Failed:
        if kind is None:
            return bad(f"can't parse {name} JSON object")
        return bad(f"object expected as {name}" if kind is dict else f"expected an Array of {name}")

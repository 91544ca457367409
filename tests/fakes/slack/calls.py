"""A call of the Web API: its arguments as they came, each read by what the documentation says that it is."""

import json
from dataclasses import dataclass, field
from typing import Any

import anyio

from tests.fakes.slack.faults import Fault


class Failed(Exception):
    """The answer ``ok: false``."""

    def __init__(self, error: str, status: int = 200, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.more = more

    def said(self) -> dict[str, Any]:
        return {"ok": False, "error": self.error, **self.more}


def bad(argument: str, why: str = "missing required field") -> Failed:
    """The arguments are not such as the documentation wants."""
    messages = [f"[ERROR] {why}: {argument}"]
    return Failed("invalid_arguments", response_metadata={"messages": messages})


@dataclass(eq=False)
class Call:
    """One request, and what is known of how it went."""

    token: str
    method: str
    """Of the Web API; ``upload`` and ``download`` of files, ``connect`` of a socket, ``envelope`` on one, and
    ``acknowledge`` of one."""
    params: dict[str, Any]
    content_type: str = ""
    at: float = field(default_factory=anyio.current_time)
    fault: Fault | None = None
    acted: bool = False
    """Whether what was asked for was done."""
    answer: dict[str, Any] = field(default_factory=dict[str, Any])
    """What was answered, or would have been."""
    status: int = 200
    """Of HTTP."""
    answered: bool | None = None
    """Whether its sender took in the whole answer; None: not known yet. If not, it cannot know what became of it."""
    used: set[str] = field(default_factory=set[str])

    @property
    def ok(self) -> bool:
        return bool(self.answer.get("ok"))

    @property
    def error(self) -> str:
        """Slack's code of what was wrong; empty: nothing."""
        return str(self.answer.get("error", ""))

    @property
    def channel(self) -> str:
        """The channel that it is about; empty: none."""
        return str(self.params.get("channel") or self.params.get("channel_id") or "")

    @property
    def unknown(self) -> set[str]:
        """Arguments that the method does not have; the Web API ignores them, but nobody means to send them."""
        return set(self.params) - self.used - {"token"}

    @property
    def as_json(self) -> bool:
        return self.content_type.partition(";")[0].strip() == "application/json"

    def text(self, name: str, default: str | None = None) -> str:
        """A string; without a default it has to be there."""
        value = self._value(name)
        if value is None or (value == "" and default is None):
            if default is None:
                raise bad(name)
            return default
        if not isinstance(value, str):
            raise bad(name, "must be a string")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise bad(name, "must be valid UTF-8") from None
        return value

    def integer(self, name: str, default: int) -> int:
        """A whole number."""
        value = self._value(name)
        if value in (None, ""):
            return default
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise bad(name, "must be a number")
        try:
            return int(value)
        except ValueError:
            raise bad(name, "must be a number") from None

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A truth value."""
        value = self._value(name)
        if value is None:
            return default
        if value in (False, "false", "0", 0, ""):
            return False
        if value in (True, "true", "1", 1):
            return True
        raise bad(name, "must be a boolean")

    def tree(self, name: str, kind: type = dict) -> Any:
        """An object or an array, itself in a JSON body, as JSON text in a form; None: not there."""
        value = self._value(name)
        if isinstance(value, str) and value:
            try:
                value = json.loads(value)
            except ValueError:
                raise bad(name, "must be valid JSON") from None
        if value in (None, ""):
            return None
        if not isinstance(value, kind):
            raise bad(name, f"must be of type {kind.__name__}")
        return value

    def ignored(self, *names: str) -> None:
        """Arguments that the method has and that change nothing here."""
        self.used.update(names)

    def _value(self, name: str) -> Any:
        self.used.add(name)
        return self.params.get(name)

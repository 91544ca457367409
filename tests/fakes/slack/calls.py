"""A call of the Web API: its arguments as they came, each read by what the documentation says that it is."""

from dataclasses import dataclass, field
from typing import Any

from tests.fakes import platform


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
    messages = [f"[ERROR] {why}: {argument}"]
    return Failed("invalid_arguments", response_metadata={"messages": messages})


@dataclass(eq=False)
class Call(platform.Call):
    """One request; its method is one of the Web API, or ``upload`` or ``download`` of a file, ``connect`` of a socket,
    ``envelope`` on one, or ``acknowledge`` of one."""

    content_type: str = ""
    status: int = field(default=200, kw_only=True)  # of HTTP

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
        value = self._value(name)
        if value is None:
            return default
        if value in (False, "false", "0", 0, ""):
            return False
        if value in (True, "true", "1", 1):
            return True
        raise bad(name, "must be a boolean")

    def _no_tree(self, name: str, kind: type | None) -> Failed:
        return bad(name, "must be valid JSON" if kind is None else f"must be of type {kind.__name__}")

"""Requests to the fake REST API, and what is wrong with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.platform import Call as AnyCall
from tests.fakes.wire import Upload


class Failed(Exception):
    def __init__(self, status: int, code: int = 0, message: str = "", **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.answer: dict[str, Any] = {"message": message or f"{status}", "code": code, **more}


UNKNOWN_CHANNEL = (404, 10_003, "Unknown Channel")
UNKNOWN_MESSAGE = (404, 10_008, "Unknown Message")


@dataclass(eq=False)
class Call(AnyCall):
    """``method`` is the HTTP method and the last word of the path that is no ID: ``POST messages``."""

    path: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    files: Mapping[str, Upload] = field(default_factory=dict[str, Upload])
    status: int = 200
    result: Any = None

    @property
    def ok(self) -> bool:
        return self.acted


@dataclass(frozen=True)
class Refuse:
    """An error that the API tells; nothing is done."""

    status: int = 429
    code: int = 0
    retry_after: float | None = None  # seconds; for 429 one by default
    is_global: bool = False


def method_of(verb: str, parts: tuple[str, ...]) -> str:
    words = [part for part in parts if part.isalpha() and part not in ("api",)]
    if "reactions" in parts:
        return f"{verb} reactions"
    return f"{verb} {words[-1] if words else ''}"

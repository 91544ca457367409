"""Tool calls, put together from their fragments.

Servers differ in all of it: the index is missing or the same for every call, ids are missing, equal or new in each
fragment, names come in pieces or again and again, arguments come as an object, in a code fence, or twice.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import cast

import msgspec

from daemon.errors import UNREADABLE
from daemon.model import provider_fields
from daemon.model.chat_model import ToolCall
from daemon.model.text_tool_calls import offered_name

_FENCE = re.compile(r"\A```\w*\s*(.*?)\s*```\Z", re.DOTALL)


@dataclass
class OpenCall:
    """A tool call whose fragments are still coming."""

    index: object
    id: str
    name: str
    arguments: str = ""
    own: dict[str, object] = field(default_factory=dict[str, object])
    """Fields that only its model understands."""

    @property
    def is_whole(self) -> bool:
        """Whether its arguments have come to their end."""
        try:
            msgspec.json.decode(self.arguments or "{}")
        except UNREADABLE:
            return False
        return bool(self.name)


class CallFragments:
    """The tool calls of one answer."""

    def __init__(self, offered: Callable[[], Collection[str]]) -> None:
        """``offered`` names the tools that the model may call."""
        self._offered = offered
        self._calls: list[OpenCall] = []

    def __bool__(self) -> bool:
        """Whether there is any call."""
        return bool(self._calls)

    @property
    def are_whole(self) -> bool:
        """Whether all calls have come to their end."""
        return all(call.is_whole for call in self._calls)

    @property
    def own(self) -> list[dict[str, object]]:
        """Fields of each call that only its model understands."""
        return [call.own for call in self._calls]

    def feed(self, given: object) -> None:
        """Take what a server sent as ``tool_calls``."""
        for each in cast("list[object]", given) if isinstance(given, list) else [given]:
            if isinstance(each, dict) and each:
                self._fragment(cast("dict[str, object]", each))

    def add(self, calls: Iterable[ToolCall]) -> None:
        """Take calls that are whole."""
        self._calls += [OpenCall(index=None, id="", name=call.name, arguments=call.arguments) for call in calls]

    def finished(self) -> list[OpenCall]:
        """The calls, with the names of the tools offered, and arguments that are one object where they hold one."""
        for call in self._calls:
            call.name = offered_name(call.name, self._offered())
            call.arguments = tidy(call.arguments)
        return self._calls

    def _fragment(self, fields: dict[str, object]) -> None:
        of_function = fields.get("function")
        function = cast("dict[str, object]", of_function) if isinstance(of_function, dict) else {}
        identity, name, arguments = _text(fields.get("id")), _text(function.get("name")), function.get("arguments")
        if not self._calls and not (identity or name or arguments):
            return
        call = self._open(fields.get("index"), identity, name, has_arguments=bool(arguments))
        if unknown := provider_fields.unknown(fields, provider_fields.KNOWN_OF_CALL):
            call.own = cast("dict[str, object]", provider_fields.joined(call.own, unknown))
        if not call.arguments and self._goes_on(call.name, name):
            call.name += name
        call.id, call.name = call.id or identity, call.name or name
        if isinstance(arguments, str):
            call.arguments += arguments
        elif arguments is not None:
            call.arguments = msgspec.json.encode(arguments).decode()

    def _open(self, index: object, identity: str, name: str, *, has_arguments: bool) -> OpenCall:
        """The call that a fragment goes on with, or a new one."""
        here = [call for call in self._calls if index is None or call.index == index]
        of_id = [call for call in self._calls if identity and call.id == identity]
        # An id is better than an index; one that is used again for a whole call is none.
        of_id = [call for call in of_id if call in here or not name or (name == call.name and not call.is_whole)]
        if not (here or identity or name):
            here = self._calls  # the index of a rest that belongs to no other call
        call = next(reversed(of_id or here), None)
        if call is None or self._begins(call, index, identity, name, has_arguments=has_arguments):
            call = OpenCall(index=index, id=identity, name="")
            if identity or name or has_arguments:  # some end with a call without anything
                self._calls.append(call)
        return call

    def _begins(self, call: OpenCall, index: object, identity: str, name: str, *, has_arguments: bool) -> bool:
        """Whether a fragment with a name begins a call beside ``call``, which has the same index."""
        if not name or (not call.arguments and self._goes_on(call.name, name)):
            return False
        if identity and identity == call.id:
            return call.is_whole and name != call.name
        if identity and call.id:
            return call.is_whole or name != call.name or index is None
        return call.is_whole and (index is None or (has_arguments and bool(call.arguments)))

    def _goes_on(self, begun: str, piece: str) -> bool:
        """Whether a piece of a name follows on what has come of it."""
        return bool(begun and piece) and any(name.startswith(begun + piece) for name in self._offered())


def tidy(arguments: str) -> str:
    """Arguments as one JSON object where they hold one in another shape; else as they are."""
    text = arguments.strip()
    if not text:
        return "{}"
    try:
        values = list(_values(found[1] if (found := _FENCE.match(text)) else text))
    except (ValueError, RecursionError):
        return arguments
    if len(values) == 1 and text.startswith("{"):
        return arguments
    # An empty object may stand in front of the true one, and the whole may come again after its pieces.
    objects = [value for at, value in enumerate(values) if value and value not in values[:at]]
    if len(objects) > 1 or not all(isinstance(value, dict) for value in objects):
        return arguments
    return msgspec.json.encode(objects[0] if objects else {}).decode()


def _values(text: str) -> Iterable[object]:
    """The JSON values that follow one another; a text among them that is JSON again, decoded."""
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        yield json.loads(value) if isinstance(value, str) and value else value
        text = text[end:].lstrip()


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)

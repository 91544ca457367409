"""Buttons below the bot's questions: card elements out, ``card.action.trigger`` in, and the answer to a press."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Literal

import anyio
import msgspec
import structlog

from channels.arrival import Arrival, Press, Sender, buttons_of, unpacked
from channels.base import Part
from channels.feishu.api import Api, left_s
from channels.feishu.api_types import Body
from channels.feishu.card_streams import CardStreams
from channels.feishu.feishu_events import NOBODY, is_id
from channels.shapes import nested
from daemon.errors import ChannelError, brief
from daemon.events import ChatKind
from daemon.sessionkey import SessionKey

ELEMENT = "choices"
"""Id of the element that holds all buttons, by which they are removed."""

LABEL_MAX_CHARS = 100
"""Longest label ("Button", JSON 2.0)."""

TIMEOUT_S = 5.0
"""Time limit for the removal of the buttons."""

KINDS_MAX = 2_000
"""Chats of which this process knows the kind."""

_KINDS: Mapping[Any, ChatKind] = {"p2p": "direct", "group": "group", "topic": "group"}
_log = structlog.get_logger()


class _Value(msgspec.Struct, frozen=True, kw_only=True):
    """The value of a button: what Feishu does not tell of a press."""

    choice: str
    """As by ``packed``."""
    chat: str
    thread: str
    kind: Literal["direct", "group"]


class Buttons:
    """The buttons of one app's questions."""

    def __init__(self, api: Api, streams: CardStreams, *, channel: str) -> None:
        self._api = api
        self._streams = streams
        self._channel = channel
        self._kinds: OrderedDict[str, ChatKind] = OrderedDict()

    async def elements(self, chat: SessionKey, part: Part, deadline: float) -> list[dict[str, Any]]:
        """The choices of a part as elements of a card; none if Feishu does not tell the kind of the chat.

        Raises: SendRefused when no time is left.
        """
        choices = buttons_of(part.choices, label_max=LABEL_MAX_CHARS)
        kind = await self._kind(chat.chat, deadline) if choices else None
        if kind is None:
            return []
        values = [
            (label, _Value(choice=value, chat=chat.chat, thread=chat.thread, kind=kind)) for label, value in choices
        ]
        return [
            {"tag": "column_set", "element_id": ELEMENT, "flex_mode": "flow", "columns": list(map(_column, values))}
        ]

    async def remove(self, message_id: str) -> None:
        """Remove the buttons from a message. Best effort: the button of an answered question does nothing more."""
        try:
            await self._streams.delete(message_id, ELEMENT, anyio.current_time() + TIMEOUT_S)
        except ChannelError as error:
            _log.info("button.failed", channel=self._channel, reason=brief(error))

    async def _kind(self, chat: str, deadline: float) -> ChatKind | None:
        if chat in self._kinds:
            return self._kinds[chat]
        try:
            answer = await self._api.call("GET", f"/im/v1/chats/{chat}", timeout_s=left_s(deadline) / 2)
        except ChannelError as error:
            _log.info("button.failed", channel=self._channel, reason=brief(error))
            return None
        kind = _KINDS.get(nested(answer, "data", "chat_mode"))
        if kind is not None:
            self._kinds[chat] = kind
            while len(self._kinds) > KINDS_MAX:
                self._kinds.popitem(last=False)
        return kind


def _column(button: tuple[str, _Value]) -> dict[str, Any]:
    label, value = button
    shown = {
        "tag": "button",
        "text": {"tag": "plain_text", "content": label},
        "behaviors": [{"type": "callback", "value": msgspec.to_builtins(value)}],
    }
    return {"tag": "column", "width": "auto", "elements": [shown]}


def read_press(body: Body, names: Mapping[str, str] = NOBODY) -> Press | None:
    """The press that a callback means; None: no button of a question in this chat."""
    event = body.event
    if body.header is None or event is None or event.operator is None or event.action is None or event.context is None:
        return None
    who, message = event.operator.open_id, event.context.open_message_id
    try:
        value = msgspec.convert(event.action.value, _Value)
    except msgspec.ValidationError:
        return None
    if not (is_id(who) and is_id(message) and is_id(value.chat)) or value.chat != event.context.open_chat_id:
        return None
    only, command = unpacked(value.choice)
    arrival = Arrival(
        seen_as=body.header.event_id,
        id=message,
        order=0.0,
        chat=value.chat,
        thread=value.thread,
        chat_kind=value.kind,
        sender=Sender(id=who, name=names.get(who, "")),
        text=command,
    )
    return Press(arrival=arrival, who=only)


def answer_to(refusal: str) -> dict[str, Any]:
    """The answer to a press: ``refusal`` for this person alone; the card stays as it is."""
    return {"toast": {"type": "warning", "content": refusal}} if refusal else {}

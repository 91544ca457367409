"""Buttons below the bot's questions: an inline keyboard, the answer to whoever presses one, and its end."""

from typing import Any

import structlog

from channels.arrival import packed
from channels.base import Part
from channels.telegram.api import Api
from channels.telegram.updates import Pressed
from daemon.errors import ChannelError, brief

TIMEOUT_S = 5.0
"""Time limit for the answer, for which the button shows that it waits, and for the removal of the buttons."""

TOAST_MAX_CHARS = 200
"""Longest answer to a press (Bot API, ``answerCallbackQuery``)."""

ROW_MAX = 2
"""Buttons in a row, so that a phone shows their whole labels."""

_log = structlog.get_logger()


def keyboard_of(part: Part) -> dict[str, Any]:
    """The parameters that show the choices of a part; none without choices."""
    buttons = [{"text": each.label, "callback_data": value} for each in part.choices if (value := packed(each))]
    rows = [buttons[at : at + ROW_MAX] for at in range(0, len(buttons), ROW_MAX)]
    return {"reply_markup": {"inline_keyboard": rows}} if rows else {}


class Buttons:
    """Answers the presses on one bot's buttons. Best effort: an old button says that it is old when it is pressed."""

    def __init__(self, api: Api, *, channel: str) -> None:
        self._api = api
        self._channel = channel

    async def pressed(self, event: Pressed, *, refusal: str) -> None:
        """Show ``refusal`` to the person, or remove the buttons from the message if it is empty."""
        await self._call("answerCallbackQuery", {"callback_query_id": event.query, "text": refusal[:TOAST_MAX_CHARS]})
        if not refusal:
            address = {"chat_id": event.chat, "message_id": int(event.press.arrival.id)}
            await self._call("editMessageReplyMarkup", address)

    async def _call(self, method: str, params: dict[str, Any]) -> None:
        try:
            await self._api.call(method, params, timeout_s=TIMEOUT_S)
        except ChannelError as error:
            _log.info("button.failed", channel=self._channel, reason=brief(error))

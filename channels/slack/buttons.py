"""Buttons below the bot's questions: Block Kit out, ``block_actions`` in, and the answer to whoever pressed one."""

from collections.abc import Mapping
from typing import Any

import structlog

from channels.arrival import Arrival, Press, Sender, packed, unpacked
from channels.base import Part
from channels.slack.api import Api
from channels.slack.api_types import Pressed
from channels.slack.mrkdwn import NOBODY, name_in
from channels.slack.slack_events import is_direct
from channels.slack.text_forms import clean, escaped, forms_of, is_ts
from daemon.errors import ChannelError, brief

TIMEOUT_S = 1.0
"""Time limit for each call of an answer: Slack tells the person after 3 s that the app did not react."""

LABEL_MAX_CHARS = 75
"""Longest label (Block Kit, ``button``)."""

ACTIONS = "actions"
"""The type of the block with the buttons."""

_log = structlog.get_logger()


def forms_with_buttons(part: Part) -> list[dict[str, Any]]:
    """The forms of a part's text, the best one first, with its choices as buttons where it has some."""
    forms = forms_of(part.text)
    buttons = [
        {
            "type": "button",
            "action_id": f"choice-{number}",
            "text": {"type": "plain_text", "text": choice.label[:LABEL_MAX_CHARS]},
            "value": value,
        }
        for number, choice in enumerate(part.choices)
        if (value := packed(choice))
    ]
    if not buttons:
        return forms
    text = clean(part.text)
    # The text beside the blocks is what notifications show.
    blocks = [{"type": "markdown", "text": text}, {"type": ACTIONS, "elements": buttons}]
    return [{"text": escaped(text), "blocks": blocks}, *forms]


def read_press(pressed: Pressed, *, names: Mapping[str, str] = NOBODY) -> Press | None:
    """The press that a payload means; None: no button of a question."""
    message, channel, user = pressed.message, pressed.channel, pressed.user
    if (
        pressed.type != "block_actions"
        or message is None
        or not pressed.actions
        or not (is_ts(message.ts) and channel.id and user.id)
    ):
        return None
    who, command = unpacked(pressed.actions[0].value)
    thread = message.thread_ts if is_ts(message.thread_ts) and message.thread_ts != message.ts else ""
    arrival = Arrival(
        seen_as=pressed.trigger_id,
        id=message.ts,
        order=float(message.ts),
        chat=channel.id,
        thread=thread,
        chat_kind="direct" if is_direct(channel.id) else "group",
        sender=Sender(id=user.id, name=names.get(user.id) or name_in(user.username)),
        text=command,
    )
    return Press(arrival=arrival, who=who)


class Buttons:
    """Answers presses. Best effort: the button of an answered question does nothing more."""

    def __init__(self, api: Api, *, channel: str) -> None:
        self._api = api
        self._channel = channel

    async def pressed(self, pressed: Pressed, press: Press, *, refusal: str) -> None:
        """Show ``refusal`` to the person, or remove the buttons from the message if it is empty."""
        arrival, message = press.arrival, pressed.message
        params: dict[str, Any] = {"channel": arrival.chat}
        if refusal:
            thread = {"thread_ts": arrival.thread} if arrival.thread else {}
            await self._call("chat.postEphemeral", {**params, **thread, "user": arrival.sender.id, "text": refusal})
        elif message is not None:
            left = [block for block in message.blocks or () if block.get("type") != ACTIONS]
            await self._call("chat.update", {**params, "ts": arrival.id, "text": message.text, "blocks": left})

    async def _call(self, method: str, params: dict[str, Any]) -> None:
        try:
            await self._api.call(method, params, timeout_s=TIMEOUT_S)
        except ChannelError as error:
            _log.info("button.failed", channel=self._channel, reason=brief(error))

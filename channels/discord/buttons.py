"""Buttons below the bot's questions: components out, interactions of type 3 in, and answers to interactions. Pure."""

from typing import Any
from urllib.parse import quote

from channels.arrival import Arrival, Press, buttons_of, unpacked
from channels.base import Part
from channels.discord.api import Request
from channels.discord.api_types import Interaction, is_snowflake, order_of
from channels.discord.discord_events import Place, kind_of, person_of

PRESSED = 3
"""Type of an interaction by which somebody pressed a button (Interactions, "Receiving and Responding")."""

ROW, BUTTON, SECONDARY = 1, 2, 2
"""Types of components, and the style of a grey button (Components, "Component Reference")."""

ROW_MAX, LABEL_MAX_CHARS = 5, 80
"""Buttons in a row, and the longest label (the same page)."""

MESSAGE_ANSWER, MESSAGE_FOLLOWS, UPDATE_FOLLOWS, UPDATE_ANSWER = 4, 5, 6, 7
"""Types of an answer: a message, and a change of the message with the button; both may follow within 15 minutes."""

SHOWN_TO_ONE = 1 << 6
"""Flag of a message that only the person sees who caused it."""


def components_of(part: Part) -> list[dict[str, Any]]:
    """The choices of a part as rows of buttons."""
    buttons = [
        {"type": BUTTON, "style": SECONDARY, "label": label, "custom_id": value}
        for label, value in buttons_of(part.choices, label_max=LABEL_MAX_CHARS)
    ]
    return [{"type": ROW, "components": buttons[at : at + ROW_MAX]} for at in range(0, len(buttons), ROW_MAX)]


def read_press(event: Interaction, place: Place) -> Press | None:
    """The press of a button; None: another interaction."""
    sender, message = person_of(event), event.message
    if event.type != PRESSED or sender is None or message is None or not is_snowflake(message.id):
        return None
    who, command = unpacked(event.data.custom_id)
    arrival = Arrival(
        seen_as=event.id,
        id=message.id,
        order=order_of(message.id),
        chat=place.chat,
        thread=place.thread,
        chat_kind=kind_of(event.guild_id),
        chat_name=place.name,
        sender=sender,
        text=command,
    )
    return Press(arrival=arrival, who=who)


def answer_to(text: str) -> dict[str, Any]:
    """The answer to an interaction: a text for this person alone, or the removal of the buttons if it is empty."""
    if text:
        return {"type": MESSAGE_ANSWER, "data": {"content": text, "flags": SHOWN_TO_ONE}}
    return {"type": UPDATE_ANSWER, "data": {"components": []}}


def deferred_answer(event: Interaction) -> dict[str, Any]:
    """The answer that another answer follows."""
    if event.type == PRESSED:
        return {"type": UPDATE_FOLLOWS}
    return {"type": MESSAGE_FOLLOWS, "data": {"flags": SHOWN_TO_ONE}}


def first_answer(event: Interaction, answer: dict[str, Any]) -> Request:
    """The request with an answer within the time limit."""
    return Request("POST", f"/interactions/{event.id}/{quote(event.token, safe='')}/callback", answer)


def later_answer(event: Interaction, answer: dict[str, Any]) -> Request:
    """The request with the answer that follows a deferred one."""
    path, data = f"/webhooks/{event.application_id}/{quote(event.token, safe='')}", answer["data"]
    if event.type == PRESSED and answer["type"] == MESSAGE_ANSWER:
        return Request("POST", path, data)
    # Of a command, the deferred answer is changed, which only this person sees.
    return Request("PATCH", f"{path}/messages/@original", {key: data[key] for key in data if key != "flags"})

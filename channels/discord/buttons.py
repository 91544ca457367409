"""Buttons below the bot's questions: components out, interactions of type 3 in, and their answers. Pure."""

from typing import Any

from channels.arrival import Arrival, Press, packed, unpacked
from channels.base import Part
from channels.discord.api_types import Interaction, is_snowflake, order_of
from channels.discord.discord_events import Place, kind_of, person_of

PRESSED = 3
"""Type of an interaction by which somebody pressed a button (Interactions, "Receiving and Responding")."""

ROW, BUTTON, SECONDARY = 1, 2, 2
"""Types of components, and the style of a grey button (Components, "Component Reference")."""

ROW_MAX, LABEL_MAX_CHARS = 5, 80
"""Buttons in a row, and the longest label (the same page)."""

MESSAGE_ANSWER, UPDATE_ANSWER = 4, 7
"""Types of an answer: a message, and a change of the message with the button."""

SHOWN_TO_ONE = 1 << 6
"""Flag of a message that only the person sees who caused it."""


def components_of(part: Part) -> list[dict[str, Any]]:
    """The choices of a part as rows of buttons."""
    buttons = [
        {"type": BUTTON, "style": SECONDARY, "label": choice.label[:LABEL_MAX_CHARS], "custom_id": value}
        for choice in part.choices
        if (value := packed(choice))
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


def answer_to(refusal: str) -> dict[str, Any]:
    """The answer to a press: ``refusal`` for this person alone, or the removal of the buttons if it is empty."""
    if refusal:
        return {"type": MESSAGE_ANSWER, "data": {"content": refusal, "flags": SHOWN_TO_ONE}}
    return {"type": UPDATE_ANSWER, "data": {"components": []}}

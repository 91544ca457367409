"""What a slash command means: a command of ours, or words to the bot. Pure."""

from collections.abc import Mapping

from channels.arrival import Arrival, Sender
from channels.slack.api_types import Command
from channels.slack.mrkdwn import NOBODY, name_in, plain
from daemon.bus import command_of

DIRECT = "D"
"""What the ids of direct conversations begin with."""


def read_command(fields: Command, *, at: float, names: Mapping[str, str] = NOBODY) -> Arrival | None:
    """The message that a slash command is, sent at ``at``, seconds of the epoch; None: it cannot be told by whom.

    Its answer goes to the conversation itself, for a slash command says nothing of the thread that it was typed in.
    """
    if not (fields.channel_id and fields.user_id and fields.trigger_id):
        return None
    direct = fields.channel_id.startswith(DIRECT)
    return Arrival(
        seen_as=fields.trigger_id,
        id=fields.trigger_id,
        order=at,
        chat=fields.channel_id,
        chat_kind="direct" if direct else "group",
        sender=Sender(id=fields.user_id, name=names.get(fields.user_id) or name_in(fields.user_name)),
        text=_said(fields, names),
    )


def _said(fields: Command, names: Mapping[str, str]) -> str:
    words = plain(fields.text, names).strip()
    typed = f"{fields.command.strip()} {words}".strip()
    if command_of(typed):  # /status, where the app has a command of that name
        return typed
    if not words:
        return "/help"
    meant = f"/{words.removeprefix('/')}"
    return meant if command_of(meant) else words

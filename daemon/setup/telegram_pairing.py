"""Identifying the owner: the person who sends the bot a code that only this terminal shows."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import anyio

from daemon.setup.answers import Owner
from daemon.setup.telegram_api import CONFLICT, BotApi, TelegramSaysNo

SIGNS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""No two look alike."""
LENGTH = 12
"""Of 30 signs each."""
WAIT_S = 300.0
"""How long a person may take to open the link."""
POLL_S = 10
"""Time for which Telegram delays an answer while it has no new updates."""
LOOK_S = 1.0
"""Time between two looks while other messages wait, with which Telegram answers at once."""
PAUSE_S = 2.0
"""Time between two tries when Telegram fails."""
FULL = 100
"""Updates in one answer: later ones cannot be seen without deleting these."""


def new_code() -> str:
    """A code that cannot be guessed."""
    return "".join(secrets.choice(SIGNS) for _ in range(LENGTH))


async def wait_for_owner(api: BotApi, code: str, *, say: Callable[[str], None], wait_s: float = WAIT_S) -> Owner | None:
    """The person who sends ``code`` in a direct chat; None if that does not happen in time.

    What other people wrote stays with Telegram for the daemon: the message with the code is taken away only when it
    is the oldest one.

    Raises:
        TelegramSaysNo: another program asks for the bot's messages, or Telegram cannot be asked.
    """
    is_told = False
    with anyio.move_on_after(wait_s):
        while True:
            updates = await _asked(api)
            if updates is None:
                if not is_told:
                    say("Telegram does not answer right now. Still trying.")
                is_told = True
                await anyio.sleep(PAUSE_S)
                continue
            for place, update in enumerate(updates):
                owner = _sender_of(update, code)
                if owner is not None:
                    if place == 0:
                        await _confirm(api, int(update["update_id"]))
                    return owner
            if len(updates) >= FULL:
                raise TelegramSaysNo(
                    f"Telegram already has {FULL} pending messages for this bot and shows only the oldest, so your "
                    "message is not visible yet. Identify yourself with --owner ID (bots such as @userinfobot show "
                    "your ID), or run Millpond first."
                )
            if updates:
                await anyio.sleep(LOOK_S)
    say("The code did not arrive in time.")
    return None


async def _confirm(api: BotApi, update_id: int) -> None:
    """Delete an update. If that fails, the daemon gets it and answers it like any ``/start``."""
    with suppress(TelegramSaysNo):
        await api.updates(offset=update_id + 1, wait_s=0)


async def greet(api: BotApi, owner: Owner, text: str) -> None:
    """Tell the owner that it worked; no matter when that fails."""
    quiet = {"link_preview_options": {"is_disabled": True}}
    try:
        await api.call("sendMessage", {"chat_id": int(owner.id), "text": text, **quiet})
    except (TelegramSaysNo, ValueError):
        return


async def _asked(api: BotApi) -> list[dict[str, Any]] | None:
    """Pending updates; None: Telegram is unavailable right now."""
    try:
        return await api.updates(offset=None, wait_s=POLL_S)
    except TelegramSaysNo as error:
        if not error.code or error.code >= 500:
            return None
        if error.code == 429:
            await anyio.sleep(max(LOOK_S, error.retry_after_s))
            return []
        if error.code != CONFLICT:
            raise
        raise TelegramSaysNo(
            "another program reads this bot's messages, or a webhook is set for it. Stop that "
            "program (another Millpond, nanobot, OpenClaw …) and try again, or identify yourself with --owner ID.",
            code=CONFLICT,
        ) from error


def _sender_of(update: dict[str, Any], code: str) -> Owner | None:
    """The sender of the code; None for any other update."""
    message = _table(update.get("message"))
    sender, chat, text = _table(message.get("from")), _table(message.get("chat")), message.get("text")
    if not isinstance(text, str) or chat.get("type") != "private" or sender.get("is_bot"):
        return None
    if code not in text.upper().split() or not isinstance(sender.get("id"), int):
        return None
    names = [str(sender[key]) for key in ("first_name", "last_name") if sender.get(key)]
    return Owner(id=str(sender["id"]), name=" ".join(names))


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

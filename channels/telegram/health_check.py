"""How a bot fares at the platform, in sentences for people."""

import msgspec

from channels.base import Remark
from channels.telegram.api import Api
from channels.telegram.api_types import NoMethod, Unauthorized, User, WebhookInfo
from daemon.config import TelegramConfig
from daemon.errors import UNREADABLE, ChannelError

TIMEOUT_S = 10.0

GROUPS_MAX = 20
"""Groups that are looked at: one request each."""


class _Member(msgspec.Struct, frozen=True):
    status: str = ""


_member = msgspec.json.Decoder(_Member).decode
_user = msgspec.json.Decoder(User).decode
_info = msgspec.json.Decoder(WebhookInfo).decode


async def me_of(api: Api, *, timeout_s: float = TIMEOUT_S) -> User:
    """Who the bot is.

    Raises:
        ChannelError: the platform does not say.
        msgspec.DecodeError: it says something else.
    """
    return _user(await api.call("getMe", timeout_s=timeout_s))


async def examined(api: Api, config: TelegramConfig, *, name: str) -> list[Remark]:
    """What the platform says of the bot of the channel ``name``, and what stands in the way of its work.

    Never raises what ``send`` raises.
    """
    try:
        me = await me_of(api)
        info = _info(await api.call("getWebhookInfo", timeout_s=TIMEOUT_S))
    except (Unauthorized, NoMethod) as error:
        return [
            Remark(
                state="error", text=f"{error} The token is set in channels.{name}.token or channels.{name}.token_file."
            )
        ]
    except ChannelError as error:
        return [Remark(state="error", text=str(error))]
    except UNREADABLE:
        return [Remark(state="error", text=f"{config.base_url} is not a Bot API server. Correct base_url.")]
    remarks = [Remark(state="ok", text=f"@{me.username}, https://t.me/{me.username}")]
    if problem := _webhook_problem(info, config):
        remarks.append(Remark(state="warning", text=problem))
    if not me.can_join_groups:
        remarks.append(
            Remark(
                state="ok",
                text="the bot cannot be added to groups. To allow groups, use BotFather's /setjoingroups command",
            )
        )
    elif not me.can_read_all_group_messages and config.access.groups != "off":
        remarks.append(
            Remark(
                state="ok",
                text="privacy mode is on: in groups where the bot is not an administrator, the bot receives only "
                "commands and replies to its messages. To let the bot receive mentions and the messages before "
                "them, make the bot a group administrator, or turn off privacy mode with BotFather's /setprivacy",
            )
        )
    if config.hear_reactions and config.access.groups != "off":
        remarks.append(await _reactions(api, me, config))
    return remarks


async def _reactions(api: Api, me: User, config: TelegramConfig) -> Remark:
    """Whether Telegram sends reactions in groups: only an administrator receives them ("Update")."""
    lacking: list[str] = []
    for group in [each for each in config.access.allow if each.startswith("-")][:GROUPS_MAX]:
        params = {"chat_id": group, "user_id": me.id}
        try:
            status = _member(await api.call("getChatMember", params, timeout_s=TIMEOUT_S)).status
        except (ChannelError, *UNREADABLE):
            continue  # the bot is not there, or Telegram does not tell
        if status not in ("administrator", "creator"):
            lacking.append(group)
    text = (
        "Telegram sends reactions in groups only to administrators. Make the bot an administrator of each group in "
        "which the bot should receive reactions"
    )
    if lacking:
        text = (
            "Telegram sends reactions in groups only to administrators. Make the bot an administrator of these groups: "
            f"{', '.join(lacking)}"
        )
    return Remark(state="warning" if lacking else "ok", text=text)


def _webhook_problem(info: WebhookInfo, config: TelegramConfig) -> str:
    wanted = config.webhook.url
    if info.url and not wanted:
        return f"a webhook is set ({info.url}). Millpond deletes the webhook when it starts polling"
    if wanted and info.url != wanted:
        return "Telegram does not send messages to Millpond yet. Millpond sets the webhook when it starts"
    if wanted and info.last_error_message:
        return f"Telegram could not deliver a message to Millpond: {info.last_error_message}"
    return ""

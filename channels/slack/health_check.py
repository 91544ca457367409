"""How an app fares at Slack, in sentences for people."""

from collections.abc import Iterator

import msgspec

from channels.base import Remark
from channels.slack.api import Api, connect
from channels.slack.api_types import UNFITTING, Rejected, Unauthorized
from daemon.config import SlackConfig
from daemon.errors import ChannelError
from daemon.setup.platforms.slack_scopes import missing_of

TIMEOUT_S = 10.0


class _Tested(msgspec.Struct, frozen=True):
    """Result of ``auth.test``."""

    user: str
    team: str
    url: str = ""
    bot_id: str = ""


class _Bot(msgspec.Struct, frozen=True):
    app_id: str = ""


class _BotFound(msgspec.Struct, frozen=True):
    """Result of ``bots.info``."""

    bot: _Bot = _Bot()


async def examined(api: Api, config: SlackConfig, *, name: str) -> list[Remark]:
    """Slack's report on the app of the channel ``name``, and problems of the app.

    Never raises what ``send`` raises.
    """
    try:
        answer = await api.asked("auth.test", timeout_s=TIMEOUT_S)
        tested = msgspec.convert(answer.found, _Tested)
    except Unauthorized as error:
        text = f"{error} The token is set in channels.{name}.bot_token or channels.{name}.bot_token_file."
        return [Remark(state="error", text=text)]
    except ChannelError as error:
        return [Remark(state="error", text=str(error))]
    except UNFITTING:
        return [
            Remark(state="error", text=f"{config.base_url} is not the address of a Slack Web API. Correct base_url.")
        ]
    granted = [scope.strip() for scope in answer.headers.get("X-OAuth-Scopes", "").split(",") if scope.strip()]
    hears = await _hearing(api, config, name=name, bot_id=tested.bot_id)
    return [
        Remark(state="ok", text=f"{tested.user} in {tested.team}, {tested.url}"),
        *_lacking(granted, config),
        *hears,
    ]


def _lacking(granted: list[str], config: SlackConfig) -> Iterator[Remark]:
    # Slack names the scopes of every token; another server may not.
    if granted and (missing := missing_of(granted, hears_reactions=config.hear_reactions)):
        yield Remark(
            state="warning",
            text=f"the app lacks permissions: {', '.join(missing)}. Run `millpond init --slack-manifest`, paste the "
            "output into the app's settings under App Manifest, and reinstall the app in the workspace.",
        )


async def _hearing(api: Api, config: SlackConfig, *, name: str, bot_id: str) -> list[Remark]:
    """The way in which the app receives events, and whether it works."""
    if config.events.url or not config.app_token:
        sent = f"Slack sends the app's events to {config.events.url}"
        if not config.events.url:
            sent = "Slack sends the app's events to the URL of another channel with the same signing secret"
        text = (
            f"{sent}. In the app's settings, enter this URL under Event Subscriptions and in the slash command, "
            "and turn off Socket Mode."
        )
        return [Remark(state="ok", text=text)]
    app_id = await _app_id(api, bot_id)
    named = config.app_token.reveal().split("-")[2:3]
    if app_id and named and named[0].startswith("A") and named[0] != app_id:
        text = (
            f"channels.{name}.app_token belongs to app {named[0]}, but bot_token belongs to app {app_id}. Both tokens "
            "must be from the same app."
        )
        return [Remark(state="error", text=text)]
    try:
        async with connect(config.base_url, config.app_token) as app:
            await app.call("apps.connections.open", timeout_s=TIMEOUT_S)
    except Unauthorized as error:
        text = (
            f"{error} The token is set in channels.{name}.app_token. In the app's settings, under Basic Information, "
            "give the token the connections:write scope."
        )
        return [Remark(state="error", text=text)]
    except Rejected as error:
        return [Remark(state="error", text=f"{error}. Check that Socket Mode is on in the app's settings.")]
    except ChannelError as error:
        return [Remark(state="error", text=f"Socket Mode could not be tested: {error}")]
    return [Remark(state="ok", text="the app receives events over Socket Mode")]


async def _app_id(api: Api, bot_id: str) -> str:
    """The app that a bot belongs to; empty when Slack does not say."""
    try:
        found = await api.call("bots.info", {"bot": bot_id}, timeout_s=TIMEOUT_S)
        return msgspec.convert(found, _BotFound).bot.app_id
    except (ChannelError, *UNFITTING):
        return ""

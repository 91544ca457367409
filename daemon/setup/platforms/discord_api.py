"""The call of Discord's API that setting up needs, and facts about an app; the channel has a client of its own.

No error contains the token, or a text of the HTTP library.
"""

from http import HTTPStatus

import anyio
import httpx2
import msgspec

from daemon.config import Secret
from daemon.config.channel_rules import WHERE_TOKEN
from daemon.errors import UNREADABLE, MillpondError
from daemon.proxies import http_client
from daemon.version import __version__

CALL_S = 15.0
"""How long an answer may take."""

AGENT = f"DiscordBot (https://millpond.example, {__version__})"
"""The form that Discord requires (Reference, "User Agent")."""

CONTENT_ALLOWED = (1 << 18) | (1 << 19)
"""Flags of an app that may receive the text of all messages (Resources, "Application Flags")."""

NO_INTENT = (
    "the privileged intent Message Content is off for this app, so the bot receives only direct messages, mentions "
    "and slash commands. Turn on Message Content Intent at https://discord.com/developers/applications, under Bot"
)

PERMISSIONS = 1 << 6 | 1 << 10 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 16 | 1 << 38 | 1 << 46
"""Reactions, reading, sending, links, files, history, sending in threads, voice messages (Topics, "Permissions")."""


class DiscordSaysNo(MillpondError):
    """Discord cannot be asked, or refuses."""


class User(msgspec.Struct, frozen=True, kw_only=True):
    """A person or a bot."""

    id: str = ""
    username: str = ""
    global_name: str | None = None


class Team(msgspec.Struct, frozen=True, kw_only=True):
    """The team that owns an app."""

    owner_user_id: str = ""


class App(msgspec.Struct, frozen=True, kw_only=True):
    """A bot's app."""

    id: str
    name: str = ""
    flags: int = 0
    approximate_guild_count: int | None = None
    owner: User | None = None
    team: Team | None = None

    @property
    def may_read_content(self) -> bool:
        """Whether the bot may receive the text of all messages."""
        return bool(self.flags & CONTENT_ALLOWED)

    @property
    def owner_id(self) -> str:
        """The ID of the person to whom the app belongs; empty: unknown."""
        if self.team is not None:
            return self.team.owner_user_id
        return self.owner.id if self.owner else ""

    @property
    def owner_name(self) -> str:
        """The person's name; empty: unknown."""
        return (self.owner.global_name or self.owner.username) if self.owner and self.team is None else ""

    @property
    def invitation(self) -> str:
        """The address at which a person adds the bot to a server."""
        query = f"client_id={self.id}&scope=bot+applications.commands&permissions={PERMISSIONS}"
        return f"https://discord.com/oauth2/authorize?{query}"


_app = msgspec.json.Decoder(App).decode


async def app_at(base_url: str, token: Secret) -> App:
    """The app that a token belongs to.

    Raises:
        DiscordSaysNo: the token is none, or Discord cannot be asked.
    """
    # Only characters that a token can have: anything else would be another header.
    if not all(sign.isascii() and (sign.isalnum() or sign in "._=-") for sign in token.reveal()):
        raise DiscordSaysNo(f"this is not a Discord bot token: {WHERE_TOKEN}")
    base = base_url.rstrip("/")
    headers = {"Authorization": f"Bot {token.reveal()}", "User-Agent": AGENT}
    try:
        with anyio.fail_after(CALL_S):
            async with http_client(base, httpx2.AsyncClient, timeout=None, follow_redirects=False) as client:
                response = await client.get(f"{base}/applications/@me", headers=headers)
    except TimeoutError:
        raise DiscordSaysNo(f"{base} did not respond within {CALL_S:g} s. Check the network.") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        reason = type(error).__name__
        raise DiscordSaysNo(
            f"{base} cannot be reached ({reason}). Check the network, and the proxy if you use one."
        ) from None
    return _read(base, response)


def _read(base: str, response: httpx2.Response) -> App:
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        raise DiscordSaysNo(f"Discord rejected the token: {WHERE_TOKEN}.")
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        raise DiscordSaysNo("Discord is rate-limiting requests. Try again in a minute.")
    try:
        if response.is_success:
            return _app(response.content)
    except UNREADABLE:
        pass
    raise DiscordSaysNo(
        f"{base} is not Discord's API (it responded with HTTP status {response.status_code}). Correct --discord-url."
    )

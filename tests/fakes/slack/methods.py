"""What each method of the Web API does, and what it says when it does not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.slack import posting, reading, sharing
from tests.fakes.slack.apps import App, Bot
from tests.fakes.slack.calls import Call, Failed
from tests.fakes.slack.faults import Floods
from tests.fakes.slack.world import Json, World


@dataclass(frozen=True)
class Method:
    act: Callable[[World, Any, Call], Json]  # given the ``Bot``, or with an app's token the ``App``
    scopes: tuple[str, ...] = ()
    """One of these is needed; what depends on the kind of the channel is asked for in ``act``."""
    tier: int = 3  # of the documentation; 0: as often as a channel may be posted to
    json: bool = True  # whether it takes a JSON body; all take forms
    tokens: tuple[str, ...] = ("xoxb",)


class Methods:
    def __init__(self, world: World, floods: Floods | None) -> None:
        self.world = world
        self.floods = floods
        self.table = {
            "auth.test": Method(_auth_test, tier=4, tokens=("xoxb", "xapp")),
            "apps.connections.open": Method(_connections_open, ("connections:write",), tier=1, tokens=("xapp",)),
            "chat.postMessage": Method(posting.post, ("chat:write",), tier=0),
            "chat.update": Method(posting.update, ("chat:write",)),
            "chat.postEphemeral": Method(posting.whisper, ("chat:write",), tier=4),
            "chat.delete": Method(posting.delete, ("chat:write",)),
            "chat.startStream": Method(posting.start_stream, ("chat:write",), tier=2),
            "chat.appendStream": Method(posting.append_stream, ("chat:write",), tier=4),
            "chat.stopStream": Method(posting.stop_stream, ("chat:write",), tier=2),
            "reactions.add": Method(posting.react, ("reactions:write",)),
            "reactions.remove": Method(posting.unreact, ("reactions:write",), tier=2),
            "assistant.threads.setStatus": Method(posting.set_status, ("chat:write",), tier=4),
            "agents.sessions.setStatus": Method(posting.set_session, ("chat:write",)),
            "assistant.threads.setTitle": Method(posting.set_title, ("assistant:write",)),
            "assistant.threads.setSuggestedPrompts": Method(posting.set_prompts, ("assistant:write",)),
            "conversations.history": Method(reading.history, json=False),
            "conversations.replies": Method(reading.replies, json=False),
            "conversations.info": Method(reading.info, tier=3, json=False),
            "conversations.open": Method(reading.open_direct, ("im:write", "mpim:write")),
            "users.info": Method(reading.user, ("users:read",), tier=4, json=False),
            "bots.info": Method(reading.bot, ("users:read",), json=False),
            "team.info": Method(reading.team, ("team:read",), json=False),
            "files.info": Method(sharing.info, ("files:read",), tier=4, json=False),
            "files.getUploadURLExternal": Method(sharing.upload_url, ("files:write",), tier=4, json=False),
            "files.completeUploadExternal": Method(sharing.complete, ("files:write",), tier=4),
            "files.delete": Method(sharing.delete, ("files:write",)),
        }
        self.without: set[str] = set()
        """Methods that this Slack does not know."""

    def act(self, call: Call) -> Json:
        """Do it; what is answered besides ``ok``. Raises Failed: it was not done."""
        method = self.table.get(call.method)
        if method is None or call.method in self.without:
            raise Failed("unknown_method", req_method=call.method)
        who = self.caller(call.token, method)
        if call.as_json and not method.json:
            call.params = {}  # it is not read at all
        scopes = who.scopes if isinstance(who, Bot) else who.app_scopes
        call.ignored("token")
        if method.scopes and scopes.isdisjoint(method.scopes):
            raise missing(method.scopes[0], scopes)
        self._slow_down(method, who, call)
        return method.act(self.world, who, call)

    def caller(self, token: str, method: Method) -> Bot | App:
        if not token:
            raise Failed("not_authed")
        app = next((app for app in self.world.apps.values() if app.token == token), None)
        bot = self.world.bot(token)
        if app is None and bot is None:
            raise Failed("invalid_auth")
        if bot is not None and bot.revoked:
            raise Failed(bot.revoked)
        if token.partition("-")[0] not in method.tokens:
            raise Failed("not_allowed_token_type")
        found = bot or app
        assert found is not None
        return found

    def _slow_down(self, method: Method, who: Bot | App, call: Call) -> None:
        if self.floods is None or isinstance(who, App):
            return
        wait_s = self.floods.wait_s(call.method, method.tier, f"{who.app.id} {who.team.id}", call.channel)
        if wait_s:
            raise limited(wait_s)


def missing(scope: str, provided: set[str]) -> Failed:
    return Failed("missing_scope", needed=scope, provided=",".join(sorted(provided)))


def limited(wait_s: int) -> Failed:
    return Failed("ratelimited", 429, retry_after=wait_s)


def _auth_test(_world: World, who: Bot | App, _call: Call) -> Json:
    if isinstance(who, App):
        return {"app_id": who.id, "app_name": who.name}
    url = f"https://{who.team.domain}.slack.com/"
    names = {"url": url, "team": who.team.name, "user": who.person.name}
    ids = {"team_id": who.team.id, "user_id": who.person.id, "bot_id": who.person.bot_id}
    return {**names, **ids, "is_enterprise_install": False}


def _connections_open(world: World, app: App, _call: Call) -> Json:
    if not app.socket_mode:
        raise Failed("forbidden_team")
    ticket = world.id("ticket")
    app.tickets.add(ticket)
    return {"url": f"{world.base.replace('http', 'ws', 1)}/link/?ticket={ticket}&app_id={app.id}"}

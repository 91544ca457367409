"""Apps, where they are installed, and what waits to be brought to them."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from tests.fakes.slack.sockets import Socket
    from tests.fakes.slack.world import Channel, Person, Team, World

Json = dict[str, Any]

SOCKETS_MAX = 10
SCOPES = {
    *("app_mentions:read", "assistant:write", "channels:history", "channels:join", "channels:read", "chat:write"),
    *("commands", "files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write"),
    *("mpim:history", "mpim:read", "mpim:write", "reactions:read", "reactions:write", "team:read", "users:read"),
}
"""What a manifest may ask for; a test takes some away."""
EVENTS = {
    *("app_mention", "message.channels", "message.groups", "message.im", "message.mpim"),
    *("assistant_thread_started", "assistant_thread_context_changed", "app_home_opened"),
    *("reaction_added", "reaction_removed", "file_shared", "tokens_revoked", "app_uninstalled"),
}


@dataclass(eq=False)
class Delivery:
    """Something that an app is to be told, until it says that it knows."""

    kind: str  # ``events_api``, ``slash_commands``, ``interactive``, or any
    payload: Json
    repeats: bool = True  # what people wait for is brought once
    tries: int = 0
    due: float = 0.0  # when it is brought next, by anyio's clock
    ids: list[str] = field(default_factory=list[str])  # of its envelopes, one a try
    told: list[float] = field(default_factory=list[float])  # when each was sent, by anyio's clock
    took_s: float = 0.0  # from the envelope that was acknowledged to its acknowledgement
    same: bool = False  # the next try comes in the envelope of the last one
    under_way: bool = False  # by HTTP
    reason: str = ""  # why the last try by HTTP was none
    raw: bytes | None = None  # sent as it is, instead of an envelope; then nothing is waited for

    @property
    def channel(self) -> str:
        """What it is about; empty: no channel."""
        event, channel = self.payload.get("event"), self.payload.get("channel")
        if isinstance(channel, dict):
            return str(channel.get("id") or "")
        return str((event.get("channel") if isinstance(event, dict) else self.payload.get("channel_id")) or "")


@dataclass(eq=False)
class App:
    """An app: one token for sockets, one secret for what is brought by HTTP, any number of workspaces."""

    world: "World"
    id: str
    name: str
    token: str  # ``xapp-…``
    signing_secret: str
    scopes: set[str] = field(default_factory=lambda: set(SCOPES))
    """Of the bots of workspaces that it is installed in from now on."""
    app_scopes: set[str] = field(default_factory=lambda: {"connections:write"})
    events: set[str] = field(default_factory=lambda: set(EVENTS))  # what it has subscribed to
    commands: set[str] = field(default_factory=lambda: {"/millpond"})
    url: str = ""
    """Where events and commands are brought by HTTP, instead of over sockets; names are not looked up, see
    ``FakeSlack.brought_at``."""
    socket_mode: bool = True
    sockets_max: int = SOCKETS_MAX
    tries_max: int | None = None
    """How often something is brought; None: until it is taken. Slack: four times, within an hour."""
    waiting: list[Delivery] = field(default_factory=list[Delivery])
    """Not acknowledged yet, in the order in which it came about."""
    done: list[Delivery] = field(default_factory=list[Delivery])  # acknowledged
    lost: list[Delivery] = field(default_factory=list[Delivery])  # given up
    sockets: list["Socket"] = field(default_factory=list["Socket"])  # those that are open
    tickets: set[str] = field(default_factory=set[str])
    arrived: anyio.Event = field(default_factory=anyio.Event)
    turn: Any = field(default_factory=itertools.count)

    def install(self, team: "Team", *, scopes: Iterable[str] | None = None, name: str = "") -> "Bot":
        person = team.person(name or self.name.title(), is_bot=True)
        person.app_id = self.id
        digits = "".join(self.world.dice.choices("0123456789", k=12))
        letters = "".join(self.world.dice.choices("abcdefghijkmnopqrstuvwxyzABCDEFGH", k=24))
        bot = Bot(self, team, person, f"xoxb-{digits}-{letters}", set(self.scopes if scopes is None else scopes))
        team.bots.append(bot)
        return bot

    def bring(self, kind: str, payload: Json, *, repeats: bool = True) -> Delivery:
        delivery = Delivery(kind, payload, repeats)
        self.waiting.append(delivery)
        self.arrive()
        return delivery

    def bring_raw(self, frame: bytes) -> None:
        """Send these bytes as a text on a socket; nothing is waited for."""
        self.waiting.append(Delivery("raw", {}, False, raw=frame))
        self.arrive()

    def again(self, number: int = 1, *, same: bool = False) -> None:
        """Bring the last acknowledged ones a second time: their acknowledgements were lost on the way.

        ``same``: in the same envelope as before, as people have seen it happen.
        """
        late = self.done[-number:]
        del self.done[-number:]
        for delivery in late:
            delivery.due, delivery.same = 0.0, same
        self.waiting[:0] = late
        self.arrive()

    def acknowledge(self, envelope_id: str) -> bool:
        """What becomes of an envelope that the app has acknowledged; whether it is known."""
        found = next((each for each in self.waiting if envelope_id in each.ids), None)
        if found is None:
            return any(envelope_id in each.ids for each in self.done)
        found.took_s = anyio.current_time() - found.told[found.ids.index(envelope_id)]
        self.waiting.remove(found)
        self.done.append(found)
        self.world.changed()
        return True

    def give_up(self, delivery: Delivery) -> None:
        """It is not brought any more."""
        if delivery in self.waiting:
            self.waiting.remove(delivery)
            self.lost.append(delivery)
            self.world.changed()

    def arrive(self) -> None:
        arrived, self.arrived = self.arrived, anyio.Event()
        arrived.set()
        self.world.changed()


@dataclass(eq=False)
class Bot:
    app: App
    team: "Team"
    person: "Person"
    token: str  # ``xoxb-…``
    scopes: set[str]
    revoked: str = ""  # why its token is good for nothing: ``token_revoked``, ``account_inactive``

    @property
    def mention(self) -> str:
        return f"<@{self.person.id}>"

    def direct(self, person: "Person") -> "Channel":
        return self.team.direct(person, self.person)

    def tell(self, subscription: str, event: Json) -> Delivery | None:
        """Let it be told of an event, if it has subscribed to that; None: it has not."""
        return self.push(event) if subscription in self.app.events else None

    def push(self, event: Json, *, event_id: str = "") -> Delivery:
        """Let it be told of any event, also such as nobody has seen."""
        authorization = {"enterprise_id": None, "team_id": self.team.id, "user_id": self.person.id, "is_bot": True}
        return self.app.bring(
            "events_api",
            {
                "token": "verification", "team_id": self.team.id, "context_team_id": self.team.id,
                "context_enterprise_id": None, "api_app_id": self.app.id, "event": event, "type": "event_callback",
                "event_id": event_id or self.app.world.id("Ev"), "event_time": int(self.app.world.now()),
                "authorizations": [{**authorization, "is_enterprise_install": False}], "is_ext_shared_channel": False,
                "event_context": "4-" + self.app.world.id("x"),
            },
        )  # fmt: skip

    def command(
        self, channel: "Channel", text: str = "", *, by: "Person | None" = None, command: str = "/millpond"
    ) -> Delivery:
        who = by or next(person for person in channel.members if not person.is_bot)
        number = (
            f"{self.app.world.dice.randrange(10**13)}.{self.app.world.dice.randrange(10**12)}.{self.app.world.id('x')}"
        )
        payload = {
            "token": "verification", "team_id": self.team.id, "team_domain": self.team.domain,
            "channel_id": channel.id, "channel_name": "directmessage" if channel.kind == "im" else channel.name,
            "user_id": who.id, "user_name": who.name, "command": command, "text": text, "api_app_id": self.app.id,
            "is_enterprise_install": "false",
            "response_url": f"{self.app.world.base}/commands/{self.team.id}/{number}", "trigger_id": number,
        }  # fmt: skip
        return self.app.bring("slash_commands", payload, repeats=False)

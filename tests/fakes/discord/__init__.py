"""A Discord on loopback: the REST API, the gateway and the files, as strict as the documentation."""

from tests.fakes.discord.calls import Call, Refuse
from tests.fakes.discord.server import FakeDiscord, fake_discord
from tests.fakes.discord.sockets import Socket
from tests.fakes.discord.world import Bot, Chat, File, Guild, Message, Person, Session
from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow

__all__ = [
    "Bot",
    "Call",
    "Chat",
    "Cut",
    "FakeDiscord",
    "File",
    "Garbled",
    "Guild",
    "Hang",
    "Message",
    "Page",
    "Person",
    "Refuse",
    "Session",
    "Slow",
    "Socket",
    "fake_discord",
]

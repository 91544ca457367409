"""A Feishu on loopback, as strict as its documentation: the API, long connections, and events by HTTP."""

from tests.fakes.faults import Cut, Garbled, Hang, Page, Slow
from tests.fakes.feishu.server import FakeFeishu, Fault, Refuse, fake_feishu
from tests.fakes.feishu.world import Chat, Message, Person

__all__ = [
    "Chat",
    "Cut",
    "FakeFeishu",
    "Fault",
    "Garbled",
    "Hang",
    "Message",
    "Page",
    "Person",
    "Refuse",
    "Slow",
    "fake_feishu",
]

"""What tests of the intake begin with: a channel that sends nothing, and arrivals as an adapter makes them."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import msgspec

from channels.arrival import Arrival, Sender
from channels.base import Channel, Limits
from channels.intake import Intake, Shown
from daemon.bus import Bus
from daemon.config import AccessConfig, BotConfig, TestingConfig
from daemon.events import Inbound, Reply
from daemon.process import Process

NAME = "support"
OPEN = AccessConfig(policy="open")

_orders = itertools.count(1)


class Silent:
    """As much of a channel as an intake knows: its name, and how long a text of a person can be."""

    name = NAME

    def __init__(self, said_max: int) -> None:
        nothing: dict[str, Any] = dict.fromkeys((field.name for field in msgspec.structs.fields(Limits)), 0)
        self.limits = Limits(**{**nothing, "said_max": said_max})

    def length(self, text: str) -> int:
        return len(text)


def with_channel(process: Process, *, access: AccessConfig = OPEN, admins: Sequence[str] = (), **more: Any) -> Process:
    channel = TestingConfig(url="http://127.0.0.1:9/", access=access, **more)
    config = msgspec.structs.replace(
        process.config, channels={NAME: channel}, bots={"pond": BotConfig(admins=tuple(admins))}
    )
    return replace(process, config=config)


def intake_of(process: Process, *, shown: Shown | None = None, said_max: int = 0) -> Intake:
    config = cast("TestingConfig", process.config.channels[NAME])
    return Intake(process, cast("Channel", Silent(said_max)), config, shown=shown)


def an_arrival(text: str = "hello", *, who: str = "ann", chat: str = "", is_bot: bool = False, **more: Any) -> Arrival:
    """Something said; in a direct chat of the sender's unless ``chat`` names a group."""
    order = next(_orders)
    fields: dict[str, Any] = {"id": f"m{order}", "seen_as": f"u{order}", "order": order, **more}
    return Arrival(
        chat=chat or who, chat_kind="group" if chat else "direct",
        sender=Sender(id=who, name=who.title(), is_bot=is_bot), text=text, **fields,
    )  # fmt: skip


async def accepted(bus: Bus) -> list[Inbound]:
    found = await bus.call("XRANGE", bus.keys.inbox(0), "-", "+")
    return [msgspec.json.decode(fields[b"message"], type=Inbound) for _, fields in found]


async def texts(bus: Bus) -> list[str]:
    return [inbound.text for inbound in await accepted(bus)]


async def told(bus: Bus, channel: str = NAME) -> list[Reply]:
    found = await bus.call("XRANGE", bus.keys.out(0, channel), "-", "+")
    return [msgspec.json.decode(fields[b"reply"], type=Reply) for _, fields in found]

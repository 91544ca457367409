"""Messages to the administrators of a bot in their own chats on push channels."""

from secrets import token_hex

from daemon.bus import Bus
from daemon.clock import Clock, stamp
from daemon.config import BotConfig, Config, PushConfig
from daemon.errors import BadSessionKey
from daemon.events import Notice, Reply
from daemon.session import Word, tell
from daemon.sessionkey import SessionKey


async def tell_administrators(
    bus: Bus, config: Config, clock: Clock, bot: BotConfig, text: str, *, besides: str = ""
) -> None:
    """Send ``text`` to each administrator of ``bot`` who is named with a push channel, except ``besides``.

    Raises:
        BusUnavailable: Redis is away; some of them may have been told.
    """
    for admin in filter(_is_chat, bot.admins):
        channel = SessionKey.parse(admin).channel
        if admin != besides and isinstance(config.channels.get(channel), PushConfig):
            await tell(bus, config.queue, admin, _word(admin, channel, text, stamp(clock.now())))


def _word(session: str, channel: str, text: str, now: str) -> Word:
    name = f"warned-{now}-{token_hex(4)}"
    reply = Reply(id=f"{session}#{name}", session=session, turn=0, text=text, correlation=name)
    return Word(notice=Notice(kind="parked", text=text, time=now), reply=reply, out_channel=channel)


def _is_chat(admin: str) -> bool:
    """Whether an administrator is named with a channel, so that there is a chat to write to."""
    try:
        SessionKey.parse(admin)
    except BadSessionKey:
        return False
    return True

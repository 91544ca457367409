"""Answers ``/link`` and ``/unlink``, with which several chats of a person share a memory.

What they ask for is a job; a command that is worked out twice, since its worker died, asks for the same one.
"""

from daemon.bus import argument_of
from daemon.config import BotConfig
from daemon.events import Inbound
from daemon.jobs import Tell
from daemon.people import Asking, is_person, shown
from daemon.people.codes import VALID_S, WRONG_S
from daemon.people.configured import BY
from daemon.process import Process
from daemon.session import Claim
from daemon.wording import text as say


class Linking:
    """Says what becomes of them."""

    def __init__(self, process: Process) -> None:
        self._asking = Asking(process)

    async def said(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> str:
        """What is said of ``inbound``, one of the two.

        Raises:
            BusUnavailable: Redis is away.
        """
        scope, language = claim.begun.scope, bot.language
        if inbound.chat_kind == "group" or scope.split(":")[1:2] == ["group"]:
            return say("link_group", language)
        if not is_person(scope):
            return say("link_not_person", language, kind=say(f"link_kind_{bot.memory.scope}", language))
        chat = Tell(
            session=claim.session,
            out_channel=inbound.channel if inbound.delivery == "push" else "",
            correlation=inbound.correlation,
            message_id=inbound.id,
            language=language,
        )
        if inbound.command == "unlink":
            return await self._unlink(scope, chat, bot)
        return await self._link(scope, inbound, chat, bot)

    async def _link(self, scope: str, inbound: Inbound, chat: Tell, bot: BotConfig) -> str:
        language, code = bot.language, argument_of(inbound.text)
        if not code:
            made = shown(await self._asking.code(scope, inbound.bot, chat))
            return say("link_code", language, code=made, minutes=round(VALID_S / 60))
        refused = await self._asking.by_code(code, scope, inbound.bot, chat)
        if refused is None:
            return say("link_begun", language)
        minutes = round((WRONG_S if refused == "often" else VALID_S) / 60)
        return say(f"link_{refused}", language, minutes=minutes)

    async def _unlink(self, scope: str, chat: Tell, bot: BotConfig) -> str:
        people = self._asking.people
        family = await people.family(scope)
        leaving = [scope] if family[0] != scope else family[1:]
        links = [await people.link_of(member) for member in leaving]
        if any(link is not None and link.by == BY for link in links):
            return say("unlink_config", bot.language)
        job = await self._asking.unlink(scope, by=chat.session, chat=chat)
        return say("unlink_begun" if job else "unlink_none", bot.language)

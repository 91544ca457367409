"""Answers ``/link`` and ``/unlink``, with which several chats of a person share a memory.

A link is a job, which is created when both chats have confirmed the link. If a worker dies and another worker carries
out the same command again, no second job is created.
"""

from daemon.bus import argument_of
from daemon.config import BotConfig
from daemon.events import Inbound
from daemon.jobs import NotifiedChat, tell
from daemon.people import LinkRequests, Party, Request, is_person, shown
from daemon.people.link_codes import VALID_S, WRONG_S
from daemon.people.link_requests import BY
from daemon.process import Process
from daemon.session import Claim
from daemon.wording import text as say
from workers.agent.commands.command_outcome import Outcome
from workers.choices import choice, token_of, unnamed

YES = frozenset({"yes", "y", "ok", "是", "好", "同意", "确认"})
NO = frozenset({"no", "n", "cancel", "否", "不", "不同意", "拒绝", "取消"})
"""Words after ``/link``; every code is longer."""

MINUTES = round(VALID_S / 60)


class LinkCommand:
    """Says what becomes of them."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._asking = LinkRequests(process)

    async def outcome(self, claim: Claim, inbound: Inbound, bot: BotConfig) -> Outcome:
        """What ``inbound``, one of the two, comes to.

        Raises:
            BusUnavailable: Redis is away.
        """
        scope, language = claim.begun.scope, bot.language
        if inbound.chat_kind == "group" or scope.split(":")[1:2] == ["group"]:
            return Outcome(text=say("link_group", language))
        if not is_person(scope):
            return Outcome(text=say("link_not_person", language, kind=say(f"link_kind_{bot.memory.scope}", language)))
        chat = NotifiedChat(
            session=claim.session,
            out_channel=inbound.channel if inbound.delivery == "push" else "",
            correlation=inbound.correlation,
            message_id=inbound.id,
            language=language,
        )
        if inbound.command == "unlink":
            return Outcome(text=await self._unlink(scope, chat, bot))
        argument, party = argument_of(inbound.text), Party(scope=scope, chat=chat, name=inbound.sender_name)
        answer, token = unnamed(argument)
        answer = answer.casefold().strip(" .!。！")
        if answer in YES | NO:
            return await self._answered(party, answer in YES, token, at_ms=_accepted_ms(claim, inbound))
        return await (self._redeemed(party, argument, inbound.bot) if argument else self._offered(party, inbound.bot))

    async def _offered(self, party: Party, bot: str) -> Outcome:
        code = await self._asking.code(party, bot)
        if code:
            return Outcome(text=say("link_code", party.chat.language, code=shown(code), minutes=MINUTES))
        request = await self._asking.request_of(party.scope)
        if request:
            return _question(request)
        return Outcome(text=say("link_none", party.chat.language, minutes=MINUTES))

    async def _redeemed(self, party: Party, code: str, bot: str) -> Outcome:
        found = await self._asking.by_code(code, party, bot)
        if isinstance(found, Request):
            await self._tell_other(found, "asked", _question(found.turned))
            return _question(found)
        minutes = round((WRONG_S if found == "often" else VALID_S) / 60)
        return Outcome(text=say(f"link_{found}", party.chat.language, minutes=minutes))

    async def _answered(self, party: Party, is_yes: bool, token: str, *, at_ms: int) -> Outcome:
        language, request = party.chat.language, await self._asking.request_of(party.scope)
        if token and (request is None or token != token_of(request.link)):
            return Outcome(text=say("choice_old", language))
        if request is None:
            return Outcome(text=say("link_none", language, minutes=MINUTES))
        answered = await self._asking.answer(request, "yes" if is_yes else "no", by=party.chat, at_ms=at_ms)
        match answered:
            case None:
                gone = Outcome(text=say("link_gone", language))
                await self._tell_other(request, "no", gone)
                return gone
            case "newer":
                return _question(request)
            case "no":
                text = say("link_no_other", language, other=request.own.called)
                await self._tell_other(request, "no", Outcome(text=text))
                return Outcome(text=say("link_no", language))
            case _:
                text = say(f"link_{answered}", language, other=request.other.called, minutes=MINUTES)
                return Outcome(text=text)

    async def _tell_other(self, request: Request, name: str, told: Outcome) -> None:
        name = f"job-{request.link}-{name}"
        await tell(self._process, request.other.chat, told.text, name=name, choices=told.choices)

    async def _unlink(self, scope: str, chat: NotifiedChat, bot: BotConfig) -> str:
        people = self._asking.people
        family = await people.family(scope)
        leaving = [scope] if family[0] != scope else family[1:]
        links = [await people.link_of(member) for member in leaving]
        if any(link is not None and link.by == BY for link in links):
            return say("unlink_config", bot.language)
        job = await self._asking.unlink(scope, by=chat.session, chat=chat)
        return say("unlink_begun" if job else "unlink_none", bot.language)


def _question(request: Request) -> Outcome:
    """The question to one side."""
    language, question = request.own.chat.language, request.link
    text = say(f"link_ask_{request.side}", language, other=request.other.called, minutes=MINUTES)
    answers = (("choice_link_yes", "/link yes"), ("choice_link_no", "/link no"))
    choices = [choice(label, command, language=language, question=question) for label, command in answers]
    return Outcome(text=text, choices=tuple(choices))


def _accepted_ms(claim: Claim, inbound: Inbound) -> int:
    """Time at which a message was accepted (server clock), from its stream ID."""
    ids = [entry.stream_id for entry in claim.begun.waiting if entry.inbound and entry.inbound.id == inbound.id]
    return int(ids[-1].partition("-")[0]) if ids else 0

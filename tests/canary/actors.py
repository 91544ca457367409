"""What a person, or the group, does: one thing after the other, at random."""

import datetime as dt
import random
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread

from tests.canary.canaries import canary, words_in
from tests.canary.findings import Findings
from tests.canary.hostile import Hostile, Wish, plant
from tests.canary.knowledge import Knowledge
from tests.canary.looks import Looks
from tests.canary.minds import Minds, tag
from tests.canary.people import BOT, IDENTITIES, MEMBERS, STRANGER, Identity
from tests.canary.plan import Counts
from tests.canary.stranger import Stranger
from tests.canary.terminal import Terminal
from tests.canary.voice import Voice

BALLAST_WORDS = (60, 260)
"""What a message carries besides: the window is small, and every conversation is consolidated several times."""

WAITING_MAX = 3  # messages of a session that wait, before whoever speaks in it does
TOGETHER = 0.6  # how often everything is answered before somebody asks for something to be forgotten
WRONG_CODES_MAX = 3  # tries of a person: after a few more no code is looked at for minutes
ASIDES = ("/status", "/usage", "/memory", "/whoami", "/help")
OFTEN = 10  # what happens once, when other things happen so many times
FILES = f"bots/{BOT}/files/"  # below the data directory: scopes' own files
FOUND_NOTHING = "I found no stored text"
FORGOTTEN = ("The text was forgotten", "The text had already been deleted")
NOT_DONE = "These steps failed"
ASKED, LINKED, PARTED = "created this code", "is now linked with", "no longer linked"
BUSY, REJECTED = "already has an open link request", "rejected the link"
_CODE = re.compile(r"/link ([A-Z0-9-]{8,12})")


@dataclass(kw_only=True)
class World:
    data: Path
    dice: random.Random
    voice: Voice
    minds: Minds
    looks: Looks
    terminal: Terminal
    hostile: Hostile
    stranger: Stranger
    knowledge: Knowledge
    findings: Findings
    counts: Counts
    heirlooms: dict[str, str] = field(default_factory=dict[str, str])
    """By scope, the canary of a file of its own; these are never forgotten."""
    diary: Path  # what was linked, parted and forgotten, and when, for whoever looks into a finding
    said_in: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Canaries that stand in each session's log, as long as they are not forgotten."""

    def __post_init__(self) -> None:
        for who in IDENTITIES:
            self.heirlooms[who.scope] = self.new_word(who)
            self.knowledge.say(who.scope, self.heirlooms[who.scope])

    def note(self, what: str) -> None:
        with self.diary.open("a") as lines:
            lines.write(f"{dt.datetime.now(dt.UTC):%H:%M:%S.%f} {self.counts.operations} {what}\n")

    def new_word(self, who: Identity) -> str:
        self.counts.said += 1
        return canary(who.label, self.counts.said, self.dice)


class Actor:
    """One person, with all identities; or the group."""

    def __init__(self, world: World, identities: Sequence[Identity]) -> None:
        self._world = world
        self._identities = identities
        self._linked: tuple[Identity, Identity] | None = None
        """The identity that is a part of the other, and that one."""
        self._wrong_codes = 0

    async def act(self) -> None:
        dice = self._world.dice
        acts: list[tuple[Callable[[Identity], Awaitable[None]], int]] = [
            (self._say, 4 * OFTEN),
            (self._attack, 3 * OFTEN),
            (self._search, OFTEN),
            (self._read, OFTEN),
            (self._knock, OFTEN),
            (self._aside, OFTEN // 2),
            (self._new, OFTEN // 4),
            (self._compact, OFTEN // 4),
            (self._plant, OFTEN // 4),
            (self._forget, OFTEN // 2),
            (self._export, OFTEN // 6),
            (self._look_from_terminal, OFTEN // 10),
            *([(self._link, OFTEN // 3), (self._found_code, OFTEN // 3)] if len(self._identities) > 1 else []),
        ]
        chosen = dice.choices([act for act, _ in acts], [weight for _, weight in acts])[0]
        await chosen(dice.choice(self._identities))

    @property
    def _sessions(self) -> list[str]:
        return [session for each in self._identities for session in each.sessions]

    # Talking.

    async def _say(self, who: Identity, rounds: list[list[Wish]] | None = None) -> None:
        world, session = self._world, self._world.dice.choice(who.sessions)
        word = world.new_word(who)
        await self._send(who, session, word, rounds)

    async def _send(self, who: Identity, session: str, word: str, rounds: list[list[Wish]] | None) -> None:
        world = self._world
        await world.voice.room(session, WAITING_MAX)
        world.knowledge.say(who.scope, word)
        world.said_in.setdefault(session, []).append(word)
        plan = f" {world.minds.plan(rounds)}" if rounds else ""
        ballast = "why " * world.dice.randint(*BALLAST_WORDS)
        text = f"{tag(session)} {word}{plan} ({ballast})"
        await world.voice.say(who, session, text, member=world.dice.choice(MEMBERS))

    async def _attack(self, who: Identity) -> None:
        world, session = self._world, self._world.dice.choice(who.sessions)
        word = world.new_word(who)
        rounds = world.hostile.rounds(who.scope, word, world.knowledge.others(who.scope)[-50:])
        await self._send(who, session, word, rounds)

    async def _search(self, who: Identity) -> None:
        world = self._world
        foreign = world.knowledge.others(who.scope)
        await self._say(who, [[world.hostile.search(who.scope, foreign) for _ in range(3)]])

    async def _aside(self, who: Identity) -> None:
        world = self._world
        await world.voice.say(who, world.dice.choice(who.sessions), world.dice.choice(ASIDES))

    async def _new(self, who: Identity) -> None:
        await self._world.voice.say(who, self._world.dice.choice(who.sessions), "/new")

    async def _compact(self, who: Identity) -> None:
        await self._world.voice.say(who, self._world.dice.choice(who.sessions), "/compact")

    async def _export(self, who: Identity) -> None:
        self._world.counts.exports += 1
        await self._world.voice.say(who, self._world.dice.choice(who.sessions), "/export")

    # Looking.

    async def _read(self, _who: Identity) -> None:
        world = self._world
        session = world.dice.choice([session for each in IDENTITIES for session in each.sessions])
        await world.looks.chat(world.voice.client, world.voice.url(session), session)

    async def _knock(self, _who: Identity) -> None:
        await self._world.stranger.knock()

    async def _plant(self, who: Identity) -> None:
        world = self._world
        await to_thread.run_sync(plant, world.dice, world.data, who.scope, world.heirlooms)
        await self._say(who, world.hostile.into_planted())

    async def _look_from_terminal(self, who: Identity) -> None:
        await self._world.terminal.look(who.scope)

    # Forgetting.

    async def _forget(self, who: Identity) -> None:
        world = self._world
        words = [word for word in world.knowledge.own(who.scope) if word != world.heirlooms[who.scope]]
        if not words:
            return
        word, session = world.dice.choice(words), world.dice.choice(who.sessions)
        if world.dice.random() < TOGETHER:
            await world.voice.quiet(self._sessions)
        await self.forget(who, session, word)

    async def forget(self, who: Identity, session: str, word: str) -> None:
        """Have a canary forgotten, and wait until it is said that it is."""
        world, since = self._world, self._world.voice.delivered
        world.note(f"{session} looks for {word}")
        name = await world.voice.say(who, session, f"/forget {word}")
        listed = await world.voice.heard(
            session, name, since=since, wanted=lambda text: text.startswith(FOUND_NOTHING) or "/forget all" in text
        )
        if not listed or listed.startswith(FOUND_NOTHING):
            return
        since = world.voice.delivered
        name = await world.voice.say(who, session, "/forget all")
        report = await world.voice.heard(
            session, name, since=since, wanted=lambda text: any(each in text for each in (*FORGOTTEN, NOT_DONE))
        )
        if NOT_DONE in report or not report:
            # It is gone from wherever that could be done; or it will be, and nobody has heard of it yet.
            world.said_in = {each: [other for other in words if other != word] for each, words in world.said_in.items()}
        if NOT_DONE in report:
            world.findings.add("unanswered", f"{session} could not forget: {report[report.index(NOT_DONE) :][:300]}")
        elif report:
            world.knowledge.forget(who.scope, [word])
        world.note(f"{session} has forgotten {word}: {report[:400]!r}")

    # Linking.

    async def _link(self, who: Identity) -> None:
        if self._linked is not None:
            await self._unlink(who)
        elif self._wrong_codes < WRONG_CODES_MAX and self._world.dice.random() < 0.2:
            self._wrong_codes += 1
            await self._world.voice.say(who, self._world.dice.choice(who.sessions), "/link ABCD-2345")
        else:
            [member] = [each for each in self._identities if each != who]
            await self._link_with(who, member)

    async def _code(self, who: Identity) -> str:
        session = self._world.dice.choice(who.sessions)
        name = await self._world.voice.say(who, session, "/link")
        found = _CODE.search(await self._world.voice.heard(session, name, since=0, wanted=_CODE.search))
        return found[1] if found else ""

    async def _found_code(self, who: Identity) -> None:
        """A stranger finds a code and confirms; the person who made it does not."""
        world, [session] = self._world, STRANGER.sessions
        if not (code := await self._code(who)):
            return
        name = await world.voice.say(STRANGER, session, f"/link {code}")
        # The other person's code may be there already.
        told = await world.voice.heard(session, name, since=0, wanted=lambda text: ASKED in text or BUSY in text)
        if ASKED not in told:
            return
        await world.voice.say(STRANGER, session, "/link yes")
        await world.voice.say(who, world.dice.choice(who.sessions), "/link no")
        told = await world.voice.heard(session, name, since=0, wanted=lambda text: REJECTED in text or LINKED in text)
        if LINKED in told:
            world.findings.add("linked", f"{session} with {who.scope}")
        world.note(f"{session} was not linked with {who.scope}: {told[:100]!r}")

    async def _link_with(self, into: Identity, member: Identity) -> None:
        world = self._world
        if not (code := await self._code(into)):
            return
        if world.dice.random() < TOGETHER:
            await world.voice.quiet(self._sessions)
        world.knowledge.link(member.scope, into.scope)
        self._linked = member, into
        world.note(f"{member.scope} is to be a part of {into.scope}")
        session = world.dice.choice(member.sessions)
        name = await world.voice.say(member, session, f"/link {code}")
        if not await world.voice.heard(session, name, since=0, wanted=lambda text: ASKED in text):
            return
        for side in (member, into):
            await world.voice.say(side, world.dice.choice(side.sessions), "/link yes")
        await world.voice.heard(session, name, since=0, wanted=lambda text: LINKED in text)
        world.counts.links += 1
        world.note(f"{member.scope} is a part of {into.scope}")

    async def _unlink(self, who: Identity) -> None:
        world = self._world
        assert self._linked is not None
        member, _ = self._linked
        # Whatever is under way belongs to both; so nothing is.
        await world.voice.quiet(self._sessions)
        session = world.dice.choice(who.sessions)
        world.note(f"{member.scope} is to be parted")
        name = await world.voice.say(who, session, "/unlink")
        if not await world.voice.heard(session, name, since=0, wanted=lambda text: PARTED in text):
            return
        chats = [await self._whole(session) for session in member.sessions]
        # What was forgotten took with it what stood beside it; what was made of that before is theirs all the same.
        earlier = [world.minds.stood_in[session] for session in member.sessions]
        chats += await world.voice.remembered(member.scope, member.sessions)
        # A file that it brought comes back as it is now, with what both have written into it.
        held = await to_thread.run_sync(world.looks.in_files, member.scope)
        files = [words for path, words in held.items() if path.startswith(FILES)]
        world.knowledge.unlink(member.scope, set().union(*map(words_in, chats), *earlier, *files))
        self._linked = None
        world.counts.unlinks += 1
        world.note(f"{member.scope} is a part of no other")

    async def _whole(self, session: str) -> str:
        world = self._world
        shown = await world.looks.chat(world.voice.client, world.voice.url(session), session)
        return "\n".join([shown, *(notice.text for notice in await world.voice.notices(session))])

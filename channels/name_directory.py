"""What people and bots are called: asked of the platform, and kept for a while."""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable

import anyio
import structlog

from channels.text.text_split import sound
from daemon.errors import ChannelError, brief
from daemon.printable import one_line

NAME_MAX_CHARS = 128
"""Of a name: longer ones are made to annoy."""

KEPT_MAX = 10_000
"""Names kept, the last used: about 2 MB."""

KEPT_S = 3_600.0
"""How long a name is used before it is asked for again: people change it seldom."""

FAILED_S = 60.0
"""How long one that could not be had is not asked for again."""

PATIENCE_S = 0.5
"""How long a message waits for the names in it."""

CALL_S = 10.0
"""Longest look-up; one that takes longer than ``PATIENCE_S`` serves the next message."""

ASKED_MAX = 20
"""Names asked for at once: Slack lets a hundred be asked for in a minute (``users.info``, tier 4)."""

LATE_MAX = 100
"""Names that wait to be asked for once more."""

_log = structlog.get_logger()


def name_in(text: str) -> str:
    """A name as it stands in a text: one line, which cannot be taken for more than a name."""
    return one_line(sound(text[: 4 * NAME_MAX_CHARS]))[:NAME_MAX_CHARS]


class NameDirectory(ABC):
    """The names of people and bots by their ids; who keeps it for long has to ``run`` it, which renews old names."""

    def __init__(self, *, channel: str) -> None:
        self._channel = channel
        self._known: OrderedDict[str, tuple[str, float]] = OrderedDict()
        """A name, empty if it could not be had, and until when it serves (``anyio.current_time``)."""
        self._late: dict[str, None] = {}
        """Whose names could not be waited for, in their order."""
        self._has_late = anyio.Event()
        self._has_failed = False

    async def run(self) -> None:
        """Look up, for ever, what took too long to wait for."""
        while True:
            await self._has_late.wait()
            self._has_late = anyio.Event()
            while self._late:
                await self._look_up_all(list(self._late)[:ASKED_MAX])

    async def names(self, ids: Iterable[str], *, patience_s: float = PATIENCE_S) -> dict[str, str]:
        """The names of ``ids``, as many as are known within ``patience_s``; never raises."""
        wanted = list(dict.fromkeys(filter(None, ids)))
        unsure = [each for each in wanted if not self._is_known(each)]
        missing = [each for each in unsure if not self._name(each)]
        if missing:
            with anyio.move_on_after(patience_s):
                await self._look_up_all(missing[:ASKED_MAX])
        self._leave_for_later(unsure)  # an old name serves meanwhile
        return {each: name for each in wanted if (name := self._name(each))}

    async def _look_up_all(self, ids: Iterable[str]) -> None:
        async with anyio.create_task_group() as tg:
            for each in ids:
                tg.start_soon(self._look_up, each)

    async def _look_up(self, who: str) -> None:
        lasts_s = KEPT_S
        try:
            name = await self._asked(who)
        except ChannelError as error:
            name, lasts_s = self._name(who), FAILED_S
            self._complain(error)
        self._late.pop(who, None)
        self._note(who, name_in(name), lasts_s)

    def _note(self, who: str, name: str, lasts_s: float) -> None:
        self._known[who] = (name, anyio.current_time() + lasts_s)
        self._known.move_to_end(who)
        while len(self._known) > KEPT_MAX:
            self._known.popitem(last=False)

    @abstractmethod
    async def _asked(self, who: str) -> str:
        """The name of ``who``, as the platform says; empty: it has none. Raises: ChannelError."""

    def _is_known(self, who: str) -> bool:
        found = self._known.get(who)
        return found is not None and anyio.current_time() < found[1]

    def _name(self, who: str) -> str:
        """Its name, if only an old one."""
        found = self._known.get(who)
        if found is None:
            return ""
        self._known.move_to_end(who)
        return found[0]

    def _leave_for_later(self, ids: Iterable[str]) -> None:
        """Do without the names that are not known yet, in the next messages too, until somebody has looked them up."""
        for each in ids:
            if not self._is_known(each) and len(self._late) < LATE_MAX:
                self._note(each, self._name(each), CALL_S)
                self._late[each] = None
                self._has_late.set()

    def _complain(self, error: ChannelError) -> None:
        # Once: a workspace that does not let the bot know names says so for each of them.
        if not self._has_failed:
            _log.warning("people.unknown", channel=self._channel, reason=brief(error))
            self._has_failed = True

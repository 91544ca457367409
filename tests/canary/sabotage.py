"""Millpond with one of the checks switched off that keep scopes apart: a run that does not notice proves nothing.

``python -m tests.canary.sabotage parents run --role agent`` is ``millpond run --role agent`` without that check.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import millpond
from channels.web.access import Operators
from daemon.forget import sweep
from daemon.forget.forget_context import ForgetContext
from daemon.memory import Memories, Recall
from daemon.people import link_codes
from daemon.recall.index import BuiltinEngine
from tests.canary.people import SCOPES
from tests.chaos.sabotage import Cut, Swap
from workers.agent.outgoing_messages import OutgoingMessages
from workers.tools import file_access

_current = Memories.current


async def _of_the_first(memories: Memories, scope: str) -> Recall:
    return await _current(memories, SCOPES[0] if ":person:" in scope else scope)


_done = BuiltinEngine._done


async def _done_for_the_first(engine: BuiltinEngine, scope: str, *args: Any, **more: Any) -> Any:
    return await _done(engine, SCOPES[0] if ":person:" in scope else scope, *args, **more)


def _any_name(_name: str) -> None:
    pass


async def _nothing(_work: ForgetContext, _scope: str) -> None:
    pass


async def _of_anybody(speech: OutgoingMessages, session: str) -> str:
    bus = speech._process.bus
    return ((await bus.call("HGET", bus.keys.session(session), "scope")) or b"").decode()


async def _everybody(operators: Operators, scope: Any) -> bool:
    return await operators.of(scope) is None or True


def _any_file(_found: Any, _place: Any) -> None:
    pass


CHECKS: Mapping[str, Sequence[Cut | Swap]] = {
    # A path may lead out of the folder of a scope's files.
    "parents": (Swap(file_access, "_check", _any_name),),
    # Links are followed, and second names of files count as the first.
    "links": (
        Swap(file_access, "_FOLDER", file_access._FOLDER & ~os.O_NOFOLLOW),
        Swap(file_access, "_FILE", file_access._FILE & ~os.O_NOFOLLOW),
        Swap(file_access, "_only_plain", _any_file),
    ),
    # Every person has the memory of one of them.
    "memory": (Swap(Memories, "current", _of_the_first),),
    # Every person's searches look through what one of them was told.
    "search": (Swap(BuiltinEngine, "_done", _done_for_the_first),),
    # The tool ``message`` speaks in whatever chat it is told.
    "message": (Swap(OutgoingMessages, "_shared", _of_anybody),),
    # The API needs no token.
    "token": (Swap(Operators, "admits", _everybody),),
    # One side alone confirms a link.
    "consent": (Cut(link_codes.ANSWER, "return other and 'both' or 'waits'", "return 'both'"),),
    # Of the tiers of forgetting one is left out.
    "forget-memory": (Swap(sweep, "forget_memory", _nothing),),
}
"""What can be switched off, and how."""


def switch_off(check: str) -> None:
    """Switch off a check in this process; an empty name switches off nothing."""
    for change in CHECKS[check] if check else ():
        change.make()


if __name__ == "__main__":
    if sys.argv[1] in CHECKS:
        switch_off(sys.argv.pop(1))
    millpond.main()

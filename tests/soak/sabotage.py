"""Millpond with something planted, or with one of its checks switched off: a soak that does not notice proves nothing.

``python -m tests.soak.sabotage leak run --role agent`` is ``millpond run --role agent`` that loses memory. What can be
switched off in a chaos run can be here as well.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import millpond
from daemon.session.sessions import Sessions
from tests.chaos.sabotage import CHECKS as OF_CHAOS
from tests.chaos.sabotage import Cut, Swap

LEAK_BYTES = 65_536
_lost = list[Any]()
_commit = Sessions.commit


async def _losing_memory(sessions: Sessions, *args: Any, **more: Any) -> Any:
    _lost.append(os.urandom(LEAK_BYTES))
    return await _commit(sessions, *args, **more)


async def _losing_files(sessions: Sessions, *args: Any, **more: Any) -> Any:
    _lost.append(open(os.devnull))  # noqa: ASYNC230, PTH123, SIM115 - it is never closed: that is the point
    return await _commit(sessions, *args, **more)


CHECKS: Mapping[str, Sequence[Cut | Swap]] = {
    **OF_CHAOS,
    "leak": (Swap(Sessions, "commit", _losing_memory),),
    "leak-files": (Swap(Sessions, "commit", _losing_files),),
}
"""What can be planted or switched off, and how."""


def spoil(check: str) -> None:
    """Do it in this process; an empty name spoils nothing."""
    for change in CHECKS[check] if check else ():
        change.make()


if __name__ == "__main__":
    spoil(sys.argv.pop(1))
    millpond.main()

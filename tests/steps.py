"""How much work something is, in calls of functions: the same on every machine."""

import gc
import sys
from collections.abc import Callable
from types import FrameType

NOT_COUNTED = ("/asyncio/", "/anyio/", "/selectors.py", "/threading.py", "importlib")
"""Parts of paths of code: the turns of an event loop and imports depend on the machine and on other tests."""


def calls_of(act: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called by ``act``; those of the event loop and of imports not."""
    count, before = 0, sys.getprofile()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        path = frame.f_code.co_filename
        count += event in ("call", "c_call") and not any(part in path for part in NOT_COUNTED)

    # What is collected here was left by others.
    gc.disable()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


def grows_evenly(act: Callable[[int], object], size: int) -> bool:
    """Whether twice the size is about twice the work, not four times."""
    return calls_of(lambda: act(2 * size)) < 2.5 * calls_of(lambda: act(size)) + 100

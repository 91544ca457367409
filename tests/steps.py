"""How much work something is, in calls of functions: the same on every machine."""

import gc
import sys
from collections.abc import Callable
from types import FrameType


def calls_of(act: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called by ``act``."""
    count, before = 0, sys.getprofile()

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

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

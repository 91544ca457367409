"""How much work something is, in calls of functions: the same on every machine."""

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

PACKAGES = tuple(f"{Path(__file__).parents[1]}/{package}/" for package in ("channels", "daemon", "workers"))
"""Other code is not counted: the event loop, imports and logs depend on the machine and on other tests."""


def calls_of(act: Callable[[], object]) -> int:
    """How many functions the product's code calls in ``act``, of Python and of C; its own functions count as well."""
    count, before = 0, sys.getprofile()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call") and frame.f_code.co_filename.startswith(PACKAGES)

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

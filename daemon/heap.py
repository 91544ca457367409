"""The heap of the C library, made to give back what threads let go of.

By itself glibc keeps a heap for each of up to eight threads a core, and what a thread needed for a moment stays in its
own: a process that searches grew by some 30 kB a turn for thousands of turns, of which nothing was in use.
"""

from contextlib import suppress

ARENAS = 2
"""Heaps for all threads together: they allocate little while they do not hold the interpreter's lock."""

MAPPED_FROM = 256 * 1024
"""Bytes from which on an allocation is mapped by itself, and gone when it is freed: arrays, and pages of a large file.
Where this is not said, glibc raises it with each that is freed, to 32 MiB in the end."""

KEPT_MAX = 1024 * 1024
"""Free bytes that a heap may keep at its end."""

_PARAMETERS = {-8: ARENAS, -3: MAPPED_FROM, -1: KEPT_MAX}
"""By M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD of <malloc.h>, see mallopt(3)."""


def share_heap() -> None:
    """Have it so for the rest of the process, as far as its C library can; to be called before threads are started."""
    from ctypes import CDLL  # noqa: PLC0415 - it takes 5 ms, which only who stays has to spend

    # Others than glibc know no mallopt, or not these parameters, and have no such heaps.
    with suppress(OSError, AttributeError, TypeError):
        mallopt = CDLL(None).mallopt
        for parameter, value in _PARAMETERS.items():
            mallopt(parameter, value)

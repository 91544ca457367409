"""What the embedded server's memory comes from: a script of many commits takes and gives back thousands of pieces.

Measured in docs/decisions/008-engine.md.
"""

from importlib import metadata
from pathlib import Path

PACKAGE = "cmeel-mimalloc"
"""Its wheel carries the library alone, for each platform that the server's wheel is made for."""
LIBRARY = "cmeel.prefix/lib/libmimalloc.so"
"""Where the wheel puts it, below the folder of installed packages. There is none by this name on macOS, where nothing
can be put before a program so simply."""

TCACHE = "glibc.malloc.tcache_count=2000:glibc.malloc.tcache_max=256"
"""Without the library: of each size glibc keeps seven free pieces at hand; others come back from all over the memory,
one by one, which costs a server of 20,000 sessions a quarter of its CPU. Of pieces above 256 bytes none are kept: they
would be up to 65 MiB that nobody else can have, and 4 are as good."""


def settings(*, bundled: bool) -> dict[str, str]:
    """What has to stand in the server's environment; ``bundled``: it is the program that came with Millpond.

    Others keep the allocator that they were built with: they may ask it for more than this library has.
    """
    library = _library() if bundled else None
    return {"GLIBC_TUNABLES": TCACHE} | ({"LD_PRELOAD": str(library)} if library else {})


def _library() -> Path | None:
    try:
        library = Path(str(metadata.distribution(PACKAGE).locate_file(LIBRARY)))
    except metadata.PackageNotFoundError:
        return None
    # The loader takes a list with spaces and colons between its names.
    return library if library.is_file() and not {" ", ":"} & set(str(library)) else None

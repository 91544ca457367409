"""Runs the embedded Redis server, which all processes with the same data directory share.

Public: ``EmbeddedServer(data_dir).ensure()`` returns the ``Address`` of a running server, and starts one if necessary.
Begin with ``launch``. ``idle_watchdog`` is the keeper, the small process that stops an unused server.

Everything lies in ``<data_dir>/redis``, and three file locks say who lives; a process id on disk
is never trusted, since another process may have it by now:

* ``start.lock``: held alone while the server is started or stopped, and shared while a caller looks at a running one.
* ``alive.lock``: inherited by the server, so that it is held exactly as long as one has the data open.
* ``keeper.lock``: inherited by the keeper, the small process that stops the server when nobody uses it any more.

The keeper runs this package from a bare interpreter, so importing it must cost nothing: what is public is looked up
when it is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from daemon.server.embedded import Address, EmbeddedServer

__all__ = ["Address", "EmbeddedServer"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from daemon.server import embedded  # noqa: PLC0415 - see above: the keeper must not pay for it

    return getattr(embedded, name)

"""All sessions and their scopes, read from the sessions themselves, because the index may be incomplete."""

from collections.abc import Callable, Collection

import anyio

from daemon.bus import Bus, scan


async def all_sessions(bus: Bus) -> list[str]:
    """The keys of all sessions, sorted.

    Raises:
        BusUnavailable: Redis is away.
    """
    return sorted([name async for names in scan(bus, "session") for name in names])


async def sessions_of(bus: Bus, scopes: Collection[str]) -> list[tuple[str, str]]:
    """All sessions whose own scope is one of ``scopes``, each with its scope, sorted. Errors as for ``all_sessions``.

    What two scopes have become by being linked is not looked at here.
    """
    return await sessions_where(bus, lambda scope: scope in scopes)


async def sessions_where(bus: Bus, wanted: Callable[[str], bool]) -> list[tuple[str, str]]:
    """As ``sessions_of``, for the scopes that ``wanted`` accepts."""
    found: list[tuple[str, str]] = []

    async def look(session: str) -> None:
        scope = await bus.call("HGET", bus.keys.session(session), "scope")
        if scope is not None and wanted(scope.decode()):
            found.append((session, scope.decode()))

    async for names in scan(bus, "session"):
        async with anyio.create_task_group() as tg:  # one tick, few pipelines
            for name in names:
                tg.start_soon(look, name)
    return sorted(found)

"""Deletes indexes after data was forgotten. They are built again from the remaining data.

A hook of ``daemon.forget.sweep``, which is not known here: ``daemon.job_handlers`` puts it there.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from anyio import to_thread

from daemon.bus import Bus, load_script

ANEW = load_script(__file__, "../../forget/lua/anew.lua")


class Stores(Protocol):
    """The needed part of ``daemon.forget.ForgetStores``."""

    @property
    def bus(self) -> Bus:
        """The bus of the memories."""
        ...

    @property
    def data_dir(self) -> Path:
        """The folder that contains the indexes."""
        ...


class Work(Protocol):
    """The needed part of ``daemon.forget.forget_context.ForgetContext``."""

    @property
    def stores(self) -> Stores:
        """The stores."""
        ...

    @property
    def looks(self) -> bool:
        """Whether nothing may be changed."""
        ...

    def fail(self, reason: str) -> None:
        """Record a failed step."""
        ...


class Order(Protocol):
    """The needed part of ``daemon.forget.forget_context.ForgetOrder``."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes of the data."""
        ...


class Ground(Protocol):
    """The needed part of ``daemon.forget.forget_context.ForgetTargets``."""

    @property
    def all(self) -> Sequence[tuple[str, str]]:
        """Sessions, each with its scope."""
        ...


async def forget_in_indexes(work: Work, order: Order, ground: Ground) -> None:
    """Delete the indexes of all scopes from which something may have been removed.

    Nothing is counted: they hold copies alone, and a search that runs meanwhile makes new ones.

    Raises:
        BusUnavailable: Redis is away.
    """
    if work.looks:
        return
    bus, spoken = work.stores.bus, {scope for _, scope in ground.all}
    for scope in sorted({*order.scopes, *spoken}):
        homes = {scope, ((await bus.call("HGET", bus.keys.memory(scope), "joined")) or b"").decode()} - {""}
        for home in sorted(homes):
            # Those that other machines keep, and what a process has read before, are out of date from here on. That the
            # memory itself was counted was before the messages were removed.
            is_counted = await bus.run(ANEW, [bus.keys.memory(home)], [])
            if not is_counted and scope in spoken:
                # Nothing was ever consolidated, and something was said all the same.
                await bus.call("HINCRBY", bus.keys.memory(home), "forgets", 1)
            try:
                await to_thread.run_sync(partial(_delete, work.stores.data_dir, home))
            except OSError as error:
                reason = error.strerror or "the search index cannot be deleted"
                work.fail(
                    f"search index of {home}: {reason}. Delete the folders `search` and `qmd` in the data "
                    "directory yourself."
                )


def _delete(data_dir: Path, scope: str) -> None:
    # Most processes never delete any: what engines are made of is imported by those that do.
    from daemon.recall.index.index_files import delete_indexes  # noqa: PLC0415
    from daemon.recall.qmd import remove_index  # noqa: PLC0415

    try:
        delete_indexes(data_dir, scope)
    finally:
        remove_index(data_dir, scope)

"""How many calls of a model one process has under way; those beyond wait in order."""

from weakref import WeakValueDictionary

import anyio

from daemon.config.schema import ModelConfig


class Places:
    """A number of places, given in the order in which they were asked for."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._semaphore = anyio.Semaphore(count)

    async def take(self, deadline: float) -> None:
        """Wait for a place; whoever has one gives it back.

        Raises:
            TimeoutError: none came free until ``deadline``, by the event loop's clock.
        """
        with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
            await self._semaphore.acquire()

    def give(self) -> None:
        """Give a place back, from whatever task."""
        self._semaphore.release()


_shared: WeakValueDictionary[tuple[str, str, int], Places] = WeakValueDictionary()


def places_of(config: ModelConfig) -> Places:
    """The places of a model: the same for all that have one address, name and number in this process."""
    key = (config.base_url, config.name, config.max_concurrent)
    found = _shared.get(key)
    if found is None:
        found = _shared[key] = Places(config.max_concurrent)
    return found

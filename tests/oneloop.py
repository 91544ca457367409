"""An event loop that runs only while a test which is not async waits for it: state machines need no thread for it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


class OneLoop:
    """Runs async functions, and tasks that go on only meanwhile."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def call(self, function: Callable[..., Awaitable[_T]], *args: Any, **options: Any) -> _T:
        async def called() -> _T:
            return await function(*args, **options)

        return self._loop.run_until_complete(called())

    def start(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        return self._loop.create_task(work)

    @contextmanager
    def entered(self, manager: AbstractAsyncContextManager[_T]) -> Iterator[_T]:
        entered, leave = self._loop.create_future(), asyncio.Event()

        async def hold() -> None:
            try:
                async with manager as value:
                    entered.set_result(value)
                    await leave.wait()
            except BaseException as error:
                if entered.done():
                    raise
                entered.set_exception(error)

        holding = self.start(hold())
        yield self._loop.run_until_complete(entered)
        leave.set()
        self._loop.run_until_complete(holding)


@contextmanager
def one_loop() -> Iterator[OneLoop]:
    loop = OneLoop()
    try:
        yield loop
    finally:
        loop._loop.run_until_complete(loop._loop.shutdown_asyncgens())
        loop._loop.close()

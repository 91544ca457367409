"""Tables of examples that one test goes through."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def each_row(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call a test with each row of a table: ``pytest.mark.parametrize`` as one test, which names every row that fails.

    The rows share the test's fixtures.
    """
    columns = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [dict(zip(columns, row if len(columns) > 1 else (row,), strict=True)) for row in rows]
    assert table, "a table without rows checks nothing"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def run(*args: Any, **fixtures: Any) -> None:
            failures: list[BaseException] = []
            for row in table:
                with _noted(failures, row):
                    test(*args, **fixtures, **row)
            _raise(failures, len(table))

        @functools.wraps(test)
        async def run_async(*args: Any, **fixtures: Any) -> None:
            failures: list[BaseException] = []
            for row in table:
                with _noted(failures, row):
                    await test(*args, **fixtures, **row)
            _raise(failures, len(table))

        chosen: Any = run_async if inspect.iscoroutinefunction(test) else run
        signature = inspect.signature(test)
        fixtures = [parameter for name, parameter in signature.parameters.items() if name not in columns]
        chosen.__signature__ = signature.replace(parameters=fixtures)
        return chosen

    return decorate


@contextmanager
def _noted(failures: list[BaseException], row: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 - whatever a row raises is told of it
        error.add_note("row: " + ", ".join(f"{name}={value!r:.500}" for name, value in row.items()))
        failures.append(error)


def _raise(failures: list[BaseException], rows: int) -> None:
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {rows} rows fail", failures)

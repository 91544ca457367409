"""Fixtures of all tests."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """All of Millpond runs on asyncio."""
    return "asyncio"

"""``constraints.txt`` pins exactly what is installed, no more and no less: what was tested is what others get."""

import re
from importlib.metadata import distributions
from pathlib import Path

import pytest

pytestmark = pytest.mark.deploy

ROOT = Path(__file__).parents[2]
OF_THE_TOOLS = frozenset({"pip", "setuptools", "wheel"})
"""Of the virtual environment itself."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    assert len({normal(name) for name, _ in pairs}) == len(pairs), "pinned twice"
    return {normal(name): version for name, version in pairs}


def test_everything_that_is_installed_is_pinned_to_just_its_version() -> None:
    installed = {normal(each.metadata["Name"]): each.version for each in distributions()}
    ours = {name: version for name, version in installed.items() if name not in OF_THE_TOOLS | {"millpond"}}

    assert {name: version for name, version in ours.items() if pinned().get(name) != version} == {}


def test_every_pin_is_of_something_that_is_installed() -> None:
    installed = {normal(each.metadata["Name"]) for each in distributions()}

    assert set(pinned()) - installed - OF_THE_TOOLS == set()

"""``constraints.txt`` pins exactly what is installed, no more and no less: what was tested is what others get."""

import re
from collections.abc import Iterator
from importlib.metadata import distributions
from itertools import product
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytestmark = pytest.mark.deploy

ROOT = Path(__file__).parents[2]
OF_THE_TOOLS = frozenset({"pip", "setuptools", "wheel"})  # of the virtual environment itself
ELSEWHERE = frozenset({"async-timeout"})
"""What other machines install and this one does not: redis needs it on Python 3.11.0 to 3.11.2 (Debian 12)."""

PYTHONS = ("3.11.0", "3.11.2", "3.11.3", "3.12.0", "3.13.0", "3.14.0")
PLATFORMS = (("linux", "Linux", "x86_64"), ("linux", "Linux", "aarch64"), ("darwin", "Darwin", "arm64"))


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

    assert set(pinned()) - installed - OF_THE_TOOLS - ELSEWHERE == set()


def needed_somewhere() -> Iterator[str]:
    """Names of everything that what is installed here needs on any Python and platform that Millpond runs on."""
    environments = [
        {
            "python_full_version": python,
            "python_version": ".".join(python.split(".")[:2]),
            "sys_platform": short,
            "platform_system": name,
            "platform_machine": machine,
            "extra": "",
        }
        for python, (short, name, machine) in product(PYTHONS, PLATFORMS)
    ]
    for each in distributions():
        for requirement in map(Requirement, each.requires or ()):
            if requirement.marker is None or any(map(requirement.marker.evaluate, environments)):
                yield normal(requirement.name)


def test_what_another_python_or_platform_needs_is_pinned_too() -> None:
    assert set(needed_somewhere()) - set(pinned()) - OF_THE_TOOLS == set()
    assert set(needed_somewhere()) >= ELSEWHERE

"""The lock: what is installed here is locked, no more and no less, and nothing else can be installed."""

import os
import re
import shutil
import subprocess
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.limits import HANG_S
from tests.supply.lock import CONSTRAINTS, FOLDER, ROOT, blocks, closure, locked, needed, normal, sources

pytestmark = pytest.mark.deploy

OF_THE_TOOLS = frozenset({"pip", "setuptools", "wheel"})  # of the virtual environment itself
ELSEWHERE = frozenset({"async-timeout"})
"""What other machines install and this one does not: redis needs it on Python 3.11.0 to 3.11.2 (Debian 12)."""


def pinned() -> dict[str, str]:
    found = {normal(each.name): str(each.specifier) for each, _ in blocks(CONSTRAINTS.read_text()).values()}
    return {name: version.removeprefix("==") for name, version in found.items()}


def test_everything_that_is_installed_is_locked_and_has_a_known_licence() -> None:
    from tests.supply.sbom import problems

    assert problems(distributions()) == []


def test_every_lock_is_of_something_that_is_installed() -> None:
    installed = {normal(each.metadata["Name"]) for each in distributions()}

    assert set(locked()) - installed - OF_THE_TOOLS - ELSEWHERE == set()


def test_what_another_python_or_platform_needs_is_locked_too() -> None:
    wanted = {
        normal(requirement.name)
        for each in distributions()
        for requirement in map(Requirement, each.requires or ())
        if needed(requirement)
    }

    assert wanted - set(locked()) - OF_THE_TOOLS == set()
    assert wanted >= ELSEWHERE


def test_both_forms_of_the_lock_have_the_same_versions_and_every_package_has_hashes() -> None:
    hashes: dict[str, set[frozenset[str]]] = {}
    for path in FOLDER.glob("*.txt"):
        for requirement, found in blocks(path.read_text()).values():
            hashes.setdefault(normal(requirement.name), set()).add(found)

    assert {name: version for name, (version, _) in locked().items()} == pinned()
    assert {name for name, found in hashes.items() if len(found) != 1 or not min(found)} == set()
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", each) for found in hashes.values() for each in min(found))


def test_a_requirement_that_is_not_locked_in_its_file_would_be_seen() -> None:
    about = sources()

    assert {path.stem for path in FOLDER.iterdir()} == set(about)
    for name, (bases, text) in about.items():
        files = [(FOLDER / f"{each}.txt").read_text() for each in (name, *closure(name))]
        assert [line for line in files[0].splitlines() if line.startswith("-")] == [f"-r {base}.txt" for base in bases]
        there = {normal(each.name): str(each.specifier) for file in files for each, _ in blocks(file).values()}
        for requirement in map(Requirement, text.splitlines()):
            if needed(requirement) and requirement.name != "millpond":
                assert requirement.specifier.contains(there[normal(requirement.name)].removeprefix("==")), name


@pytest.mark.timeout(300)
def test_a_file_with_another_hash_is_not_installed(tmp_path: Path) -> None:
    """``make setup`` on a new machine, whose index gives out a package of the right name and version."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(FOLDER, tmp_path / FOLDER.name)
    index = tmp_path / "index"
    index.mkdir()
    [(first, _), *_] = blocks((FOLDER / "build.txt").read_text()).values()
    stem = f"{first.name}-{str(first.specifier).removeprefix('==')}"
    with zipfile.ZipFile(index / f"{stem}-py3-none-any.whl", "w") as wheel:
        about = f"Metadata-Version: 2.1\nName: {first.name}\nVersion: {stem.rpartition('-')[2]}\n"
        wheel.writestr(f"{stem}.dist-info/METADATA", about)
        wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{stem}.dist-info/RECORD", "")
        wheel.writestr("evil.py", "")
    environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index)}

    done = subprocess.run(
        ["make", "setup"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=2 * HANG_S,
        check=False,
    )

    assert done.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE" in done.stderr
    assert not list((tmp_path / ".venv").rglob("evil.py"))


LOCKED = re.compile(r"--require-hashes --no-deps +(--requirement|\$\(foreach)")
ALONE = re.compile(r"--no-deps .*(\.|\.whl) *$")


@pytest.mark.parametrize("name", ["Makefile", "deploy/Dockerfile", "deploy/README.md"])
def test_every_command_that_installs_names_files_with_hashes_or_installs_millpond_alone(name: str) -> None:
    text = (ROOT / name).read_text().replace("\\\n", "")
    commands = re.findall(r"(?:-m pip (?:install|wheel)|\$\(PIP\)) (.*?)(?:&&|\n)", text)
    commands = [each for each in commands if each != "--disable-pip-version-check"]

    assert len(commands) >= 2
    assert [each for each in commands if not LOCKED.search(each) and not ALONE.search(each)] == []


def test_the_list_of_packages_is_valid_and_complete() -> None:
    from cyclonedx.output.json import JsonV1Dot6
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    from tests.supply.sbom import bill

    bom = bill(distributions())

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(JsonV1Dot6(bom).output_as_string()) is None
    listed = {each.name: each for each in bom.components}
    assert set(listed) | {"millpond"} == {normal(each.metadata["Name"]) for each in distributions()}
    for name, each in listed.items():
        assert each.version and each.licenses
        assert len(each.hashes) == len(locked()[name][1]) or name in OF_THE_TOOLS

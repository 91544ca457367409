"""``python -m tests.supply.lock``: lock every dependency to a version and to the hashes of its files.

``constraints.txt`` holds the versions. In ``requirements/``, ``run.txt`` holds the hashes of what a bot needs,
``build.txt`` of what builds the wheel, and a file for each extra of ``pyproject.toml`` the packages that the extra
adds to the files named at its top. ``--upgrade`` takes the newest versions in place of those in ``constraints.txt``. uv
resolves, with the index of its own configuration. No address of an index gets into a file.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
FOLDER = ROOT / "requirements"
PYTHONS = ("3.11.0", "3.11.2", "3.11.3", "3.12.0", "3.13.0", "3.14.0")
PLATFORMS = {
    "x86_64-manylinux_2_28": ("linux", "Linux", "x86_64"),
    "aarch64-manylinux_2_28": ("linux", "Linux", "aarch64"),
    "x86_64-apple-darwin": ("darwin", "Darwin", "x86_64"),
    "aarch64-apple-darwin": ("darwin", "Darwin", "arm64"),
}
"""Supported platforms: uv's name → ``sys_platform``, ``platform_system`` and ``platform_machine``."""

HEADER = "# Written by `make lock`. {}\n"


def normal(name: str) -> str:
    """The name of a package as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def environments() -> Iterator[dict[str, str]]:
    """The values of markers on every supported Python and platform."""
    for python, (short, name, machine) in product(PYTHONS, PLATFORMS.values()):
        yield {
            "python_full_version": python,
            "python_version": ".".join(python.split(".")[:2]),
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
            "os_name": "posix",
            "sys_platform": short,
            "platform_system": name,
            "platform_machine": machine,
            "extra": "",
        }


def needed(requirement: Requirement) -> bool:
    """Whether any supported Python and platform needs it."""
    return requirement.marker is None or any(map(requirement.marker.evaluate, environments()))


def blocks(text: str) -> dict[str, tuple[Requirement, frozenset[str]]]:
    """Of a file of requirements: each pinned one with its hashes, by its first line."""
    found = {}
    for block in re.sub(r" \\\n\s+", " ", text).splitlines():
        first, *hashes = block.split(" --hash=")
        if first and not first.startswith(("#", "-")):
            found[first] = Requirement(first), frozenset(hashes)
    return found


def locked() -> dict[str, tuple[str, frozenset[str]]]:
    """Every locked package → its version and the hashes of its files."""
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        for requirement, hashes in blocks(path.read_text()).values():
            found[normal(requirement.name)] = str(requirement.specifier).removeprefix("=="), hashes
    return found


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def sources() -> dict[str, tuple[tuple[str, ...], str]]:
    """Each file's name → its bases, and its requirements, one a line; bases stand before the files that need them."""
    about = project()
    found: dict[str, tuple[tuple[str, ...], str]] = {
        "build": ((), "\n".join(about["build-system"]["requires"])),
        "run": ((), "\n".join(about["project"]["dependencies"])),
    }
    for extra, lines in about["project"]["optional-dependencies"].items():
        own = [Requirement(line) for line in lines]
        # One that only some platforms need is no base: its packages are written out with their markers.
        bases = {each for needs in own if needs.name == "millpond" and not needs.marker for each in needs.extras}
        found[extra] = ("run", *sorted(bases)), f"millpond[{extra}] @ {ROOT.as_uri()}"
    return found


def uv(*args: str | Path, text: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "uv", *args], cwd=ROOT, input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def compiled(requirements: str, *args: str | Path) -> str:
    options = (
        "--universal",
        "--python-version",
        "3.11",
        "--no-header",
        "--no-annotate",
        "--quiet",
        "--fork-strategy",
        "fewest",
    )
    return uv("pip", "compile", "-", *options, *args, text=requirements)


def closure(name: str) -> set[str]:
    """A file's bases, and theirs."""
    bases = set(sources()[name][0])
    return bases.union(*map(closure, bases))


def write_constraints(*, upgrade: bool) -> None:
    """Pin the versions of everything that any extra needs."""
    kept: tuple[str | Path, ...] = () if upgrade or not CONSTRAINTS.exists() else ("--constraint", CONSTRAINTS)
    found = blocks(compiled("\n".join(text for _, text in sources().values()), *kept))
    pins = [each for each, _ in found.values() if each.name != "millpond" and needed(each)]
    header = HEADER.format("Exact versions that set-up installs. Names and versions only.")
    CONSTRAINTS.write_text(header + "".join(f"{each.name}{each.specifier}\n" for each in pins))


def write_hashes(name: str) -> None:
    """Write one file: its packages and their hashes, without those of its bases."""
    bases, text = sources()[name]
    there = {first for base in closure(name) for first in blocks((FOLDER / f"{base}.txt").read_text())}
    found = blocks(compiled(text, "--generate-hashes", "--constraint", CONSTRAINTS))
    lines = [f"-r {base}.txt" for base in bases]
    for first, (requirement, hashes) in found.items():
        if first not in there and requirement.name != "millpond" and needed(requirement):
            lines.append(" \\\n    ".join([first, *(f"--hash={each}" for each in sorted(hashes))]))
    (FOLDER / f"{name}.txt").write_text(HEADER.format("Versions and hashes.") + "\n".join(lines) + "\n")


def try_wheels() -> None:
    """Make sure that what a bot needs is a wheel on every platform: nothing is compiled by whoever installs it."""
    fixed = ("--dry-run", "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", FOLDER / "run.txt")
    with TemporaryDirectory() as folder:
        for python, platform in product(PYTHONS, PLATFORMS):
            of = ("--python-version", python, "--python-platform", platform)
            uv("pip", "install", *fixed, "--target", folder, *of)


def main() -> None:
    write_constraints(upgrade="--upgrade" in sys.argv)
    FOLDER.mkdir(exist_ok=True)
    for name in sources():
        write_hashes(name)
    try_wheels()
    print(f"{len(locked())} packages are locked in {FOLDER.name}/")


if __name__ == "__main__":
    main()

"""``python -m tests.supply.sbom [FILE]``: list all installed packages, as CycloneDX, and compare them with the lock.

Each package has its version, its licence, its dependencies and the hashes of the files that the lock allows for it. The
exit code is 1 when a package is not locked, has another version, or a licence that is not known to be permitted.
"""

import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

from tests.supply.lock import locked, normal

OF_PYTHON = frozenset({"pip", "setuptools", "wheel"})
"""What comes with a virtual environment: which version is Python's business."""

PERMITTED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD License", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC"),
        *("MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Zlib"),
    }
)
"""SPDX identifiers that a person has looked at: they allow use, change and passing on; and the one name without any."""

NAMES = {
    "Apache": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD License",
    "BSD 2-Clause License": "BSD-2-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "The MIT License (MIT)": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Names that packages give their licences in free text and classifiers → SPDX identifiers."""


def licence(each: Distribution) -> str:
    """A package's licence as an SPDX expression; ``BSD License`` where it says no more; empty when it is not known."""
    about = each.metadata
    texts = (each.read_text(f"licenses/{name}") for name in about.get_all("License-File") or ())
    said = [about.get("License-Expression"), about.get("License"), *texts]
    classifiers = [line for line in about.get_all("Classifier") or () if line.startswith("License ::")]
    names = {NAMES.get(name, name) for name in (line.rpartition(" :: ")[2] for line in classifiers)} & PERMITTED
    first_lines = [(text or "").strip().partition("\n")[0] for text in said]
    candidates = [*(NAMES.get(text, text) for text in first_lines), " OR ".join(sorted(names))]
    return next((text for text in candidates if text and is_permitted(text)), "")


def is_permitted(expression: str) -> bool:
    """Whether every licence in an expression is."""
    return {part for part in re.split(r"\s+(?:AND|OR)\s+|[()]", expression) if part} <= PERMITTED


def component(each: Distribution, hashes: Iterable[str]) -> Component:
    name, version = normal(each.metadata["Name"]), each.version
    said = licence(each)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{name}@{version}",
        purl=PackageURL("pypi", name=name, version=version),
        licenses=[LicenseFactory().make_from_string(said)] if said else (),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each.removeprefix("sha256:")) for each in sorted(hashes)],
    )


def bill(installed: Iterable[Distribution]) -> Bom:
    """The list of what is installed; Millpond itself is what it is about."""
    hashes = {name: found for name, (_, found) in locked().items()}
    by_name = {normal(each.metadata["Name"]): each for each in installed}
    components = {name: component(each, hashes.get(name, ())) for name, each in sorted(by_name.items())}
    bom = Bom()
    bom.metadata.component = components["millpond"]
    bom.metadata.component.type = ComponentType.APPLICATION
    for name, each in components.items():
        if name != "millpond":
            bom.components.add(each)
        wanted = {normal(Requirement(line).name) for line in by_name[name].requires or ()} - {name}
        bom.register_dependency(each, [components[other] for other in sorted(wanted & components.keys())])
    return bom


def problems(installed: Iterable[Distribution]) -> list[str]:
    """Sentences about packages that differ from the lock, or whose licence nobody has looked at."""
    lock = locked()
    found = []
    for each in installed:
        name = normal(each.metadata["Name"])
        if name != "millpond" and name not in OF_PYTHON:
            version = lock.get(name, ("", frozenset()))[0]
            if not version:
                found.append(f"{name} {each.version} is not locked. Add it to pyproject.toml and run `make lock`.")
            elif version != each.version:
                found.append(f"{name} {each.version} is installed, but {version} is locked. Run `make setup`.")
        if not licence(each):
            found.append(f"{name} has no licence that is known here. Read it, and add it to PERMITTED or NAMES.")
    return found


def main() -> int:
    installed = list(distributions())
    for path in sys.argv[1:]:
        Path(path).write_text(JsonV1Dot6(bill(installed)).output_as_string(indent=2))
    found = problems(installed)
    print(*found, sep="\n", end="\n" if found else "")
    print("sbom: differs" if found else f"sbom: {len(installed)} packages match the lock, and all licences are known")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

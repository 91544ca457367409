"""One small break of the product."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A text of the product that is replaced by another one, which breaks a rule or a promise."""

    rule: str
    """The rule as a sentence, as the product keeps it: ``A commit with a stale nonce is refused.``"""

    file: str
    """Path from the project's root; a Python module or a Lua script of ``daemon``, ``channels`` or ``workers``."""

    old: str
    """Stands in the file exactly once."""

    new: str

    caught_by: str
    """The test whose name says the rule: its path from ``tests``, ``integration/test_commit.py::test_...``.

    A parametrised test may be named with or without its parameters.
    """


def mutants_of(file: str, tests: str, *rows: tuple[str, str, str, str]) -> tuple[Mutant, ...]:
    """Mutants of one file whose tests are in one file: a row is rule, old text, new text and name of the test."""
    return tuple(
        Mutant(rule=rule, file=file, old=old, new=new, caught_by=f"{tests}::{test}") for rule, old, new, test in rows
    )

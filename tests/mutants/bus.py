"""Mutants of the bus: streams, waiting lists, wake-ups, dead letters."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        rule="A platform id that was seen is not accepted again.",
        file="daemon/bus/publish.lua",
        old="if seen then",
        new="if false then",
        caught_by="integration/test_publish.py::test_a_duplicate_names_the_id_it_was_accepted_under",
    ),
)

"""Mutants of what is used: limits of messages and tokens."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        rule="A message takes its part of a bucket once, however often it is asked for.",
        file="daemon/usage/bucket.lua",
        old="or (taken and before_or_at(ARGV[1], taken))",
        new="",
        caught_by="integration/test_usage.py::test_room_is_taken_out_of_all_buckets_or_none_and_once_for_a_message",
    ),
)

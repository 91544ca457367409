"""Measurements, each against a floor taken in the same run; `python -m benchmarks` makes a table and JSON."""

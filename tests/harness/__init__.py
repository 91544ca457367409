"""A suite in which much goes wrong, for ``tests/unit/test_harness.py``; no run of the real tests collects it."""

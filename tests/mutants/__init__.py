"""Small breaks of the product, each of which must make a test fail: ``make mutants``.

One module a room of the product lists its mutants. ``python -m tests.mutants`` applies them one by one to a copy of the
tree and runs the tests that can notice.
"""

"""A room of Millpond: contains all code that channels and workers share; it imports neither.

No public names: import from the modules.
Begin with ``run`` (a process and its services), ``services`` (the roles), ``events`` (the data between processes) and
``errors``.

A room of Millpond: ``millpond.py`` looks for these words.
"""

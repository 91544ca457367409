"""A package of Millpond: contains all code that ``channels`` and ``workers`` share, and imports neither of them.

No public names: import from the modules.
Begin with ``run`` (a process and its services), ``services`` (the roles), ``events`` (the data between processes) and
``errors``.
"""

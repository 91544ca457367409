"""Checks the machine, the stored data and the models (``millpond doctor``).

No public names: import from the modules.
Begin with ``doctor_command``. Each check returns a ``doctor_finding.Finding``.
"""

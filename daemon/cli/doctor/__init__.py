"""``millpond doctor``: the command, and its checks of this machine, of the stored data, and of the models.

Begin with ``doctor_command``. Each check returns a ``doctor_finding.Finding``.
"""

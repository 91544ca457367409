"""Carries out chat commands, which begin with a slash.

No public names: import from the modules.
Begin with ``immediate_answers`` (answers at once) and ``session_commands`` (in the order of messages).
``admin_commands`` is for administrators.
"""

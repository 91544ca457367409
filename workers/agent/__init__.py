"""Answers messages with a model and tools.

No public names: import from the modules.
Begin with ``service`` (the role) and ``turn`` (the steps of a turn), then ``tool_loop``, ``model_calls`` and
``turn_endings``.
"""

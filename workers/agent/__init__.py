"""Answers messages with a model and tools, one turn at a time for each session.

No public names: import from the modules.
Begin with ``service`` (the role) and ``turn`` (the steps of a turn), then ``tool_loop``, ``model_calls`` and
``turn_endings``.
"""

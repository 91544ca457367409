"""Helps with concurrent work: concurrent calls, shared timers, common ticks, reused tasks, and threads.

No public names: import from the modules.
Begin with ``concurrent_calls`` (calls whose Redis commands become one pipeline) and ``threads`` (blocking work).
"""

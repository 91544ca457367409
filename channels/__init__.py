"""A package of Millpond: connects chat platforms, the terminal and the web with the queues in Redis.

No public names: import from the modules.
Begin with ``base.Channel``, the interface of all platform adapters. ``arrival`` and ``inbound`` are the way in,
``push`` is the role that sends replies.
"""

"""A package of Millpond: runs turns and consolidation.

No public names: import from the modules.
Begin with ``session_consumer`` (claims sessions and starts work) and ``agent``. ``message_format`` handles messages of
the model API.
"""

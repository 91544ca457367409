"""A package of Millpond: answers messages and consolidates conversations.

No public names: import from the modules.
Begin with ``session_consumer`` (claims sessions and starts work) and ``agent``. ``message_format`` handles messages of
the model API.
"""

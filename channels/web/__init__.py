"""Serves the HTTP API and the web page.

No public names: import from the modules.
Begin with ``service`` (the role), then ``app`` (the addresses) and ``request_guard`` (the checks before every
endpoint). ``message_endpoints`` and ``event_streams`` carry the chat.
"""

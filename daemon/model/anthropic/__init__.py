"""Contains the client for Anthropic's Messages API.

No public names: import from the modules.
Begin with ``anthropic_model``, which imports the optional SDK. The other modules translate requests and events to the
form of the chat completions API.
"""

"""The client of Anthropic's Messages API: its requests and its events in the form of the chat completions API.

No public names: import from the modules. Begin with ``anthropic_model``, which imports the optional SDK.
"""

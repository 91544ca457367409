"""Connects the terminal as a channel: an interactive chat, lines from a pipe, or a single message.

No public names: import from the modules.
Begin with ``service``, which chooses between ``screen`` and ``line_mode``. ``send_message`` sends one message.
"""

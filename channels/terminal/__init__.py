"""Runs the terminal as a channel: an interactive screen, lines of a pipe, or one message.

No public names: import from the modules.
Begin with ``service``, which chooses between ``screen`` and ``line_mode``. ``send_message`` sends one message.
"""

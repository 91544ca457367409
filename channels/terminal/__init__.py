"""The terminal: a conversation in the window where a person sits, line by line from a pipe, or one message sent.

``screen`` is the interactive form, ``piped`` reads lines, and ``sending`` sends one message.
"""

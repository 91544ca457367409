"""The terminal: a conversation in the window where a person sits, line by line from a pipe, or one message sent.

``conversation`` holds what all three share and knows no screen; ``screen`` is the interactive one, ``piped`` the other.
"""

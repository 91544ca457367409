"""Asks the setup questions for a chat platform, tests the platform's API, and identifies the bot's owner.

No public names: import from the modules.
Begin with ``<platform>_interview``; ``<platform>_pairing`` waits for the owner's code.
"""

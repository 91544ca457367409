"""Asks the setup questions for a platform, calls the platform's API, and identifies the owner.

No public names: import from the modules.
Begin with ``<platform>_interview``; ``<platform>_pairing`` waits for the owner's code.
"""

"""Checks of the texts that people read: ``docs/style.md`` has the rules."""

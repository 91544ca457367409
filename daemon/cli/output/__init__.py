"""Writes the output that commands share: tables, files, and views of sessions and transcripts.

No public names: import from the modules.
Begin with ``table_output``.
"""

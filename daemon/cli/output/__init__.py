"""Prints the output of commands: tables, files, and views of sessions and transcripts.

No public names: import from the modules.
Begin with ``table_output``.
"""

"""Asks the questions of ``millpond init``, and writes the resulting files.

No public names: import from the modules.
Begin with ``interview`` (the questions) and ``setup_files`` (the writing). Nothing is written before all questions are
answered. ``config_editor`` changes a configuration later, ``foreign_data`` imports from other programs.
"""

"""The chat commands that begin with a slash, except for what a channel answers itself.

Begin with ``immediate_answers`` (commands that wait for no turn) and ``session_commands`` (commands that keep their
place among the messages). ``admin_commands`` is for administrators, ``reminder_desk`` for reminders.
"""

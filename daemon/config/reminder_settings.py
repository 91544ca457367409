"""The limits of a bot's reminders, and of the turns that they begin."""

from typing import Annotated

from msgspec import Meta

from daemon.config.section import Count, Limit, Section

QuietHours = Annotated[str, Meta(pattern=r"^(|([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)\Z")]


class RemindersConfig(Section, frozen=True):
    """How often a bot may speak without being asked, when, and to whom.

    What exceeds a limit is put off and never dropped. No source: guesses at what nobody takes for a flood.
    """

    chat_max: Count = 100
    """Reminders that a chat may have."""
    person_per_day: Limit = 50
    """Reminders of one person that may fire on a day of the bot's time zone; 0: no limit."""
    bot_per_day: Limit = 1_000
    """The same for the whole bot."""
    quiet_hours: QuietHours = ""
    """``22:00-07:00``: on the clock of the reminder's time zone, nothing fires between them; empty: none."""
    written_within_days: Limit = 90
    """A reminder waits if nobody has written to its chat for so many days; 0: it does not."""

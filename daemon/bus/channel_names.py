"""The names of all publish/subscribe channels: nothing is kept, everything is advisory."""


class ChannelNames:
    """Channel names under one prefix."""

    prefix: str

    @property
    def commands(self) -> str:
        """Channel that tells every agent worker about commands that need an out-of-band reply."""
        return f"{self.prefix}:commands"

    @property
    def nudges(self) -> str:
        """Channel that tells every worker process about ``/stop``."""
        return f"{self.prefix}:nudges"

    @property
    def leaders(self) -> str:
        """Channel that tells dispatchers that another dispatcher has resigned."""
        return f"{self.prefix}:leaders"

    @property
    def rulings(self) -> str:
        """Channel that tells every process that access or a pause was changed."""
        return f"{self.prefix}:rulings"

    def events(self, session: str) -> str:
        """Channel of the events in one session: positions, text being written, tools and notices."""
        return f"{self.prefix}:events:{session}"

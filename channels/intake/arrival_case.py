"""One arrival on its way through the intake."""

import msgspec

from channels.arrival import Arrival
from daemon.sessionkey import SessionKey


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged."""

    arrival: Arrival
    session: SessionKey
    correlation: str

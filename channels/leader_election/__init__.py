"""One process at a time does a thing: sends the replies of a channel, or asks its platform for what is new."""

from channels.leader_election.leader import Leader
from channels.leader_election.lease import Lease, Terms

__all__ = ["Leader", "Lease", "Terms"]

"""One process at a time does a thing: sends the replies of a channel, or asks its platform for what is new."""

from channels.leader_election.leader import Leader, Lease, LeaseTerms

__all__ = ["Leader", "Lease", "LeaseTerms"]

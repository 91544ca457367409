"""Elects the process that sends a channel's replies or polls its platform.

Public: ``Leader`` competes for a ``Lease``, ``LeaseTerms`` are its times.
Begin with ``leader``. The script ``lua/lead.lua`` decides.
"""

from channels.leader_election.leader import Leader, Lease, LeaseTerms

__all__ = ["Leader", "Lease", "LeaseTerms"]

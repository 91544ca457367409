"""A room of Millpond: the work, turns and consolidation."""

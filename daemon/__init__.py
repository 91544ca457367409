"""A room of Millpond: what every process stands on. It imports neither channels nor workers."""

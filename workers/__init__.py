"""The workers of Millpond: turns and consolidation."""

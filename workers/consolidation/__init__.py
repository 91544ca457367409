"""The consolidation worker: consumes ``session-grew``."""

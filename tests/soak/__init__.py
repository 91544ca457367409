"""Everything at once for a long time: what an hour leaves behind, and what it cost."""

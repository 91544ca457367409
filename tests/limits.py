"""How long tests wait."""

HANG_S = 120.0
"""Seconds after which whatever a test waits for never comes; ten times what a machine busy with other things needs."""

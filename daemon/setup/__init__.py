"""Setting up: what ``millpond init`` asks, tries, writes and takes over from other programs.

Nothing is written before everything was asked; ``daemon.cli.init`` goes through it in order.
"""

"""Setting up: what ``millpond init`` asks, tries, writes and takes over from other programs.

Nothing is written before everything was asked; ``daemon.cli.init_command`` goes through it in order.
"""

"""What every adapter of a push channel has to hold to; see ``channels.testing.channel_contract``."""

"""The web channel: the HTTP API, with a server of its own for each configured instance."""

"""A room of Millpond: the edges, where messages come in and replies go out."""

"""Faithful small stand-ins of the services that Millpond talks to."""

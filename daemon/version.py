"""The version of this Millpond."""

__version__ = "0.1.0"

"""What Millpond uses of the package dateparser, which comes without types."""

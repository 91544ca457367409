"""The page in a real browser: Chromium without a screen, against a real ``millpond run`` (``make test-page``)."""

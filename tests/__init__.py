"""All tests. What the person who runs them has configured for a Millpond of their own must not reach them."""

import os

for name in [name for name in os.environ if name.startswith(("MILLPOND_", "OPENAI_"))]:
    del os.environ[name]

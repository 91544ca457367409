"""What every adapter of a push channel has to hold to; see ``suite``."""

import pytest

pytest.register_assert_rewrite("channels.testing")

"""How fast a platform may be sent to."""

from channels.send_rate.token_bucket import TokenBucket

__all__ = ["TokenBucket"]

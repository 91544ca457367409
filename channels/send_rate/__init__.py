"""Limits the combined rate of all processes' requests to a platform.

Public: ``TokenBucket`` waits for permission to send.
Begin with ``token_bucket``.
"""

from channels.send_rate.token_bucket import TokenBucket

__all__ = ["TokenBucket"]

"""The delay before the next attempt of a session."""

import random

from daemon.config import QueueConfig

PARK_SHARE = 0.25
"""A parked message rests for this share of the time that it has been parked: tries thin out as an outage goes on."""

LOOK_S, LOOK_MAX_S, LOOK_SHARE = 5.0, 15.0, 0.1
"""Seconds after which a message looks whether a model works that another caller tries out: a claim, no call."""


def after_attempts(attempts: int, config: QueueConfig) -> float:
    """Seconds of rest after so many counted attempts: doubling."""
    return _jittered(min(config.backoff_max_s, config.backoff_min_s * 2 ** max(0, attempts - 1)))


def after_waiting(parked_s: float, config: QueueConfig, *, at_least_s: float = 0.0) -> float:
    """Seconds of rest for a message that has been parked for ``parked_s``, for something that is away.

    ``at_least_s`` is what the other side asked for; never more than ``backoff_max_s``.
    """
    # No longer than others look: one of them may find out meanwhile that it is back.
    rest_s = _jittered(max(config.backoff_min_s, min(LOOK_MAX_S, parked_s * PARK_SHARE)))
    return min(config.backoff_max_s, max(rest_s, at_least_s))


def after_looking(parked_s: float, config: QueueConfig) -> float:
    """Seconds of rest for a message whose model another one is trying out: the longer it waits, the more seldom."""
    return _jittered(min(config.backoff_max_s, LOOK_MAX_S, max(LOOK_S, parked_s * LOOK_SHARE)))


def _jittered(seconds: float) -> float:
    # Sessions that failed together must not return as one.
    return seconds * random.uniform(0.5, 1.0)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.config import ConsolidationConfig, ModelConfig
from daemon.errors import CallSkipped
from daemon.testing import ManualClock
from tests.tables import each_row
from workers.consolidation.summary.summary_calls import ModelBreaker, breaker_of


def opened(clock: ManualClock, failures: int = 5) -> ModelBreaker:
    breaker = ModelBreaker(failures_max=5, probe_s=30.0, model="m", now=clock.monotonic)
    for _ in range(failures):
        breaker.enter()
        breaker.failed()
    return breaker


def test_it_opens_after_five_failures_in_a_row():
    breaker = opened(ManualClock(), failures=4)
    breaker.enter()
    assert not breaker.is_open

    breaker.failed()

    with pytest.raises(CallSkipped, match="failed 5 times in a row, so it is not called for another 30 s"):
        breaker.enter()


def test_a_success_between_begins_the_count_anew():
    breaker = opened(ManualClock(), failures=4)

    breaker.succeeded()
    breaker.failed()

    assert not breaker.is_open
    breaker.enter()


def test_after_its_rest_one_call_finds_out_and_others_are_still_skipped():
    clock = ManualClock()
    breaker = opened(clock)
    clock.advance(29.9)
    with pytest.raises(CallSkipped) as caught:
        breaker.enter()
    assert caught.value.retry_after_s == pytest.approx(0.1)

    clock.advance(0.1)
    breaker.enter()

    with pytest.raises(CallSkipped):
        breaker.enter()


def test_a_probe_that_works_closes_it():
    clock = ManualClock()
    breaker = opened(clock)
    clock.advance(30)

    breaker.enter()
    breaker.succeeded()

    assert not breaker.is_open
    breaker.enter()


@each_row("probe_fails", [True, False])
def test_a_probe_that_fails_or_is_cancelled_leaves_it_open_for_another_rest(probe_fails):
    clock = ManualClock()
    breaker = opened(clock)
    clock.advance(30)
    breaker.enter()
    clock.advance(10)
    if probe_fails:
        breaker.failed()
    clock.advance(19.9)

    with pytest.raises(CallSkipped):
        breaker.enter()

    clock.advance(10.1)
    breaker.enter()


@given(st.lists(st.sampled_from(["call", "fail", "succeed", "wait"])))
def test_it_skips_only_after_five_failures_without_a_success(steps):
    clock = ManualClock()
    breaker = ModelBreaker(failures_max=5, probe_s=30.0, now=clock.monotonic)
    in_a_row = 0
    for step in steps:
        match step:
            case "fail":
                breaker.failed()
                in_a_row += 1
            case "succeed":
                breaker.succeeded()
                in_a_row = 0
            case "wait":
                clock.advance(31)
                breaker.enter()
            case _ if in_a_row < 5:
                breaker.enter()


def test_a_model_has_one_breaker_in_a_process():
    one, other = (
        ModelConfig(base_url="http://a/v1", name="breaker-test"),
        ModelConfig(base_url="http://b/v1", name="breaker-test"),
    )
    config = ConsolidationConfig()

    assert breaker_of(one, config) is breaker_of(one, config)
    assert breaker_of(one, config) is not breaker_of(other, config)

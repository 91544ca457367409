"""What is left of limits of a day, and how long it lasts at the rate of the day's usage."""

from hypothesis import given
from hypothesis import strategies as st

from daemon.config import BotConfig, CostConfig, EachConfig, LimitsConfig, ModelConfig, PricesConfig
from daemon.usage import DAY_S, NANO, Amount, left_of
from daemon.usage.remaining_limits import WINDOW_MIN_S
from tests.tables import each_row

LIMITED = BotConfig(limits=LimitsConfig(tokens_per_day=EachConfig(person=1_000)))


def amount_of(*notes: tuple[int, int]) -> Amount:
    """Usage as notes of the second of the day and the tokens."""
    return Amount(tokens_in=sum(tokens for _, tokens in notes), token_seconds=sum(at * tokens for at, tokens in notes))


@each_row(
    ("notes", "second", "left", "lasts_s"),
    [
        ((), 36_000, 1_000, None),
        (((36_000, 100),), 36_000, 900, 9 * WINDOW_MIN_S),  # a first message shows no rate
        (((32_400, 100),), 36_000, 900, 9 * 7_200),  # as if it had been used over the two hours around its middle
        (((28_800, 50), (36_000, 50)), 36_000, 900, 9 * 7_200),
        (((28_800, 50), (35_000, 450)), 36_000, 500, 3_240.0),  # what is used now shortens the time
        (((32_400, 1_200),), 36_000, 0, 0),
    ],
)
def test_the_rest_lasts_as_long_as_the_rate_of_recent_usage_says(notes, second, left, lasts_s) -> None:
    [found] = left_of(LIMITED, "person", "ann", amount_of(*notes), second=second)

    assert (found.left, found.lasts_s) == (left, lasts_s)
    assert left_of(LIMITED, "chat", "web:ann", amount_of(*notes), second=second) == []


def test_the_rest_of_money_and_tokens_is_without_the_share_that_is_reserved_for_memory() -> None:
    limits = LimitsConfig(
        tokens_per_day=EachConfig(person=1_000), cost_per_day=CostConfig(person=0.5), reserved_for_memory=0.2
    )
    bot = BotConfig(limits=limits, model=ModelConfig(prices=PricesConfig(currency="EUR")))
    used = Amount(tokens_in=900, token_seconds=900 * 32_400, costs_nano={"EUR": NANO // 10, "USD": NANO})

    tokens, money = left_of(bot, "person", "ann", used, second=36_000)

    assert tokens.text("en") == "0 of 800 tokens left"
    assert money.text("en") == "0.30 of 0.40 EUR left, enough for about 6 hours at the current rate"
    assert (tokens.share, money.share, money.lasts_s) == (1.125, 0.25, 3 * 7_200)


@given(
    st.lists(st.tuples(st.integers(0, DAY_S - 1), st.integers(1, 10**9)), min_size=1, max_size=5),
    st.integers(0, DAY_S - 1),
)
def test_no_rest_is_negative_or_lasts_for_a_negative_time(notes, second) -> None:
    [found] = left_of(LIMITED, "person", "ann", amount_of(*notes), second=second)

    assert found.left >= 0
    assert found.lasts_s is not None and found.lasts_s >= 0
    assert bool(found.text("en")) and bool(found.text("zh"))


@given(st.integers(1, 8), st.integers(1, 50))
def test_steady_usage_is_measured_from_its_first_message_on(hours, tokens) -> None:
    """Once a minute until now, which is noon."""
    notes = [(43_200 - 60 * ago, tokens) for ago in range(hours * 60)]
    limited = BotConfig(limits=LimitsConfig(tokens_per_day=EachConfig(person=10**6)))

    [found] = left_of(limited, "person", "ann", amount_of(*notes), second=43_200)

    expected = found.left / (tokens / 60)
    assert found.lasts_s is not None and abs(found.lasts_s / expected - 1) < 0.02

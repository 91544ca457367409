"""What model calls used, added up by model."""

from daemon.model import Answer
from daemon.usage import Amount


def account(used: dict[str, Amount], answer: Answer) -> None:
    """Add to ``used`` what the calls used that led to ``answer``."""
    for before in answer.cut_off:
        account(used, before)
    usage = answer.usage
    used.setdefault(answer.model, Amount()).add(
        Amount(
            calls=1,
            tokens_in=usage.tokens_in,
            cached_in=usage.cached_in,
            tokens_out=usage.tokens_out,
            estimated=int(usage.estimated),
            costs_nano={usage.currency: usage.cost_nano} if usage.cost_nano else {},
        )
    )

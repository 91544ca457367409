"""The tokens of a session's prompt, and the sizes that trigger actions, computed without its lock."""

from urllib.parse import unquote

from daemon.memory import Memories
from daemon.process import Process
from daemon.session import SessionState
from daemon.tokens import calibration, load
from workers.consolidation.consolidation_plan import HEAD_SHARE, Estimate, head_messages
from workers.consolidation.consolidation_rounds import MEMORY_SHARE
from workers.consolidation.consolidation_thresholds import Thresholds
from workers.model_choice import with_model


async def estimate_of(process: Process, state: SessionState, bot: str) -> tuple[Estimate, Thresholds]:
    """What the prompt between turns counts, and the sizes at which something happens.

    It is estimated as what is stored counts. What a provider's counting has taught other processes is not known here.

    Raises:
        ConfigError: the bot is not configured here.
        BusUnavailable: Redis is away.
    """
    config = process.config
    model = with_model(process.bot(bot), state.options.model).model
    thresholds = Thresholds.of(model, config.memory_flush, lowered=calibration(model.name, model.base_url).lowered)
    tokenizer = await load(model.name)
    memory_tokens = 0
    if state.scope:
        memory_tokens = await tokenizer.acount((await Memories(process.bus).current(state.scope)).text)
    head = head_messages(state.continuity.text, state.continuity.transcript) if state.continuity else ()
    prompt = Estimate(
        fixed_tokens=state.fixed_tokens,
        memory_tokens=min(memory_tokens, int(MEMORY_SHARE * thresholds.budget_tokens)),
        head_tokens=min(sum(map(tokenizer.count_message, head)), int(HEAD_SHARE * thresholds.budget_tokens)),
        history_tokens=state.tokens_start,
    )
    return prompt, thresholds


async def sizes(process: Process, state: SessionState) -> dict[str, int]:
    """Tokens by name: of the prompt between turns, and of each threshold. Errors as for ``estimate_of``."""
    prompt, thresholds = await estimate_of(process, state, unquote(state.scope.partition(":")[0]))
    flush = {"flush_point": thresholds.flush_point_tokens} if process.config.memory_flush.enabled else {}
    return {
        "prompt": prompt.tokens,
        "target": thresholds.target_tokens,
        **flush,
        "consolidation_start": thresholds.consolidation_start_tokens,
        "budget": thresholds.budget_tokens,
    }

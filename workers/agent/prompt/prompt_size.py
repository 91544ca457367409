"""The approximate sizes of the parts of a session's next prompt, cheap enough to compute after every message."""

from typing import Any
from urllib.parse import unquote

from daemon.clock import stamp
from daemon.memory import Memories
from daemon.process import Process
from daemon.session import SessionReader, SessionState
from daemon.tokens import MESSAGE_TOKENS, calibration, load
from daemon.traces import Traces
from workers.agent.bot_runtime import prompts_of
from workers.agent.prompt.prompt_preview import JOURNAL_MAX, waiting_in
from workers.agent.prompt.system_prompt import Prompts
from workers.consolidation.consolidation_plan import HEAD_SHARE, Estimate, Thresholds, head_messages
from workers.consolidation.consolidation_rounds import MEMORY_SHARE
from workers.model_choice import with_model
from workers.tools import BUILTIN

PARTS = ("system", "tools", "memory", "recalled", "continuity", "history", "current")
"""What a prompt is made of, in its order."""


class _Made:
    """The prompts that were made in this process, by bot and model."""

    def __init__(self) -> None:
        self.prompts: dict[tuple[str, str], Prompts] = {}


async def filling(process: Process, session: str, *, bot: str) -> dict[str, Any]:
    """Tokens of each part of what would be sent next; ``preview`` tells the exact ones, word by word.

    Args:
        process: any; a worker need not run in it.
        session: its key.
        bot: answers where nobody wrote yet.

    Raises:
        ConfigError: its bot is not configured here, or its prompt cannot be made.
        BusUnavailable: Redis is away.
    """
    reader = SessionReader(process.bus)
    state = await reader.state(session)
    bot = unquote(state.scope.partition(":")[0]) or bot
    prompt, thresholds = await estimate_of(process, state, bot)
    prompts = await _prompts(process, bot, state)
    system_tokens = (await prompts.system()).tokens
    # Once a turn was taken there, the tools are those that it had, those of tool servers too.
    # What comes next is not known: what was recalled for the turn before tells how much that will be, about.
    recalled_tokens = await _recalled(process, session)
    in_system = 0 if prompts.is_recalled_beside else recalled_tokens
    tools_tokens = max(0, prompt.fixed_tokens - system_tokens - in_system) or prompts.tools_tokens(prompts.definitions)
    current_tokens = await _current(process, prompts, reader, state)
    budget_tokens = thresholds.budget_tokens
    memory_tokens = prompt.memory_tokens + recalled_tokens
    standing = system_tokens + tools_tokens + memory_tokens + prompt.head_tokens + current_tokens
    # The oldest messages of a longer one are left out.
    history_tokens = max(0, min(prompt.history_tokens, budget_tokens - standing))
    remembered = (prompt.memory_tokens, recalled_tokens, prompt.head_tokens)
    counts = (system_tokens, tools_tokens, *remembered, history_tokens, current_tokens)
    flush = {"flush": thresholds.flush_point_tokens} if process.config.memory_flush.enabled else {}
    return {
        "session": session,
        "bot": bot,
        "model": prompts.bot.model.name or "offline",
        "budget": budget_tokens,
        "trigger": {**flush, "consolidation": thresholds.consolidation_start_tokens},
        "target": thresholds.target_tokens,
        "parts": [{"name": name, "tokens": tokens} for name, tokens in zip(PARTS, counts, strict=True)],
        "settling": await reader.is_settling(session),
        "free": max(0, budget_tokens - sum(counts)),
        "at": stamp(process.clock.now()),
    }


async def _recalled(process: Process, session: str) -> int:
    """What was recalled for the newest turn took in its prompts; 0: nothing was, or nobody knows any more."""
    newest = await Traces(process.bus).newest(session)
    recalls = newest.recalls if newest else ()
    return recalls[-1].prompt_tokens if recalls else 0


async def _current(process: Process, prompts: Prompts, reader: SessionReader, state: SessionState) -> int:
    """What is said now: the steps of a turn that are on record, or else the messages that wait for one."""
    journal = await reader.log(state.session, first=state.head, upto=state.head + JOURNAL_MAX, base=state.base)
    if journal or not state.waiting:
        return sum(entry.tokens for entry in journal)
    said = await waiting_in(process, state.session, first_only=state.is_repeated)
    return sum([MESSAGE_TOKENS + await prompts.tokenizer.acount(inbound.text) for inbound in said])


async def _prompts(process: Process, bot: str, state: SessionState) -> Prompts:
    config = with_model(process.bot(bot), state.options.model)
    made = process.shared(_Made).prompts
    key = (bot, config.model.name)
    if key not in made:
        tokenizer = await load(config.model.name)
        made[key] = prompts_of(process, bot, config, tokenizer, BUILTIN.only(config.tools))
    return made[key]


# The tokens of a whole prompt, and the sizes that trigger actions, computed without the lock of the session.


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

"""The approximate sizes of the parts of a session's next prompt, cheap enough to compute after every message."""

from typing import Any
from urllib.parse import unquote

from daemon.clock import stamp
from daemon.process import Process
from daemon.session import SessionReader, SessionState
from daemon.tokens import MESSAGE_TOKENS, load
from daemon.traces import Traces
from workers.agent.bot_runtime import prompts_of
from workers.agent.prompt.prompt_preview import JOURNAL_MAX, waiting_in
from workers.agent.prompt.system_prompt import Prompts
from workers.consolidation.prompt_estimate import estimate_of
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

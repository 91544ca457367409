"""Mutants of the context of a model call, and of rests: budgets, and what gives way to them."""

from tests.mutants.mutant import mutants_of

_READS = "test_the_next_turn_of_a_session_reads_the_log_only_if_it_was_changed_elsewhere"

MUTANTS = (
    *mutants_of(
        "workers/agent/prompt/history_loader.py",
        "integration/test_histories.py",
        (
            "A kept history is not used after another worker's turn.",
            "(kept.done, kept.replaced) == (at.done, at.replaced)",
            "kept.replaced == at.replaced",
            _READS,
        ),
        (
            "A history that is too old leaves memory while nobody writes.",
            "            await anyio.sleep(KEPT_S / 10)\n            self._drop_old()",
            "            await anyio.sleep(KEPT_S / 10)",
            "test_a_history_that_is_too_old_leaves_memory_while_nobody_writes",
        ),
        (
            "A kept history is not used after something in it was forgotten.",
            "is_same = (kept.done, kept.replaced)",
            "is_same = (kept.done, at.replaced)",
            _READS,
        ),
        (
            "A kept history has no message that was consolidated.",
            "kept.history if first == 0 else History(kept.history[first:])",
            "kept.history",
            _READS,
        ),
        (
            "A kept history goes back to the first message of the prompts.",
            "if not past.whole or past.first",
            "if past.first",
            "test_a_history_is_kept_only_if_the_prompts_go_back_to_the_first_message",
        ),
    ),
    *mutants_of(
        "daemon/forget/lua/replace.lua",
        "integration/test_histories.py",
        (
            "The session tells workers that messages of its log were replaced.",
            "redis.call('HINCRBY', KEYS[1], 'replaced', 1)",
            "",
            _READS,
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/history_messages.py",
        "unit/test_boundaries.py",
        (
            "A smaller context budget counts as 500.",
            "LEAST_TOKENS = 500",
            "LEAST_TOKENS = 499",
            "test_a_context_budget_holds_from_the_second_call_on_and_is_500_at_least",
        ),
        (
            "Without a context budget all history is sent.",
            "if iteration == 1 or context_budget_tokens == 0:",
            "if iteration == 1:",
            "test_a_context_budget_holds_from_the_second_call_on_and_is_500_at_least",
        ),
        (
            "The first call has all history.",
            "if iteration == 1 or context_budget_tokens == 0:",
            "if context_budget_tokens == 0:",
            "test_a_context_budget_holds_from_the_second_call_on_and_is_500_at_least",
        ),
        (
            "A context budget makes no room.",
            "min(room_tokens, max(",
            "max(room_tokens, max(",
            "test_a_context_budget_holds_from_the_second_call_on_and_is_500_at_least",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/history_messages.py",
        "unit/test_context.py",
        (
            "Turns that are taken many at once fit as a whole.",
            "if found is None or found.tokens > room:",
            "if found is None:",
            "test_turns_that_are_taken_many_at_once_are_shown_as_one_by_one",
        ),
        (
            "The first call of a turn is its first iteration.",
            "return 1 + sum(",
            "return sum(",
            "test_from_the_second_call_on_history_is_trimmed_to_its_own_budget",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/workspace.py",
        "unit/test_bootstrap.py",
        (
            "The joins of bootstrap files count.",
            "room = left if first else left - len(JOIN)",
            "room = left",
            "test_with_less_than_the_least_left_the_rest_is_left_out",
        ),
        (
            "A marker tells what is really left out.",
            "_marker(part.name, len(text) - head - tail)",
            "_marker(part.name, len(text) - head)",
            "test_a_longer_file_keeps_its_shares_of_the_allowance_and_says_how_much_is_missing",
        ),
        (
            "A bootstrap file has a largest size.",
            "min(room - len(heading), config.max_chars)",
            "room - len(heading)",
            "test_a_longer_file_keeps_its_shares_of_the_allowance_and_says_how_much_is_missing",
        ),
        (
            "The headings of bootstrap files count.",
            "min(room - len(heading), config.max_chars)",
            "min(room, config.max_chars)",
            "test_whatever_the_sizes_allowances_hold_and_counts_are_exact",
        ),
        (
            "A file may have as many characters as its allowance.",
            "if len(text) <= allowance:",
            "if len(text) < allowance:",
            "test_a_file_of_as_many_characters_as_a_file_may_have_stands_whole",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/workspace.py",
        "unit/test_boundaries.py",
        (
            "A bootstrap file needs the least room and no more.",
            "room < config.min_budget_chars",
            "room <= config.min_budget_chars",
            "test_a_bootstrap_file_needs_the_least_room_and_no_more",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/message_shortening.py",
        "unit/test_boundaries.py",
        (
            "What is said now gives way last.",
            "ranks[0] = 2",
            "ranks[0] = 1",
            "test_tool_results_give_way_first_then_other_messages_and_last_what_is_said_now",
        ),
        (
            "Tool results give way first.",
            '[0 if role_of(piece.wire) == "tool" else 1 for',
            "[1 for",
            "test_tool_results_give_way_first_then_other_messages_and_last_what_is_said_now",
        ),
    ),
    *mutants_of(
        "workers/message_format.py",
        "unit/test_boundaries.py",
        (
            "Results are cut from the least prompt on.",
            "uncut_tokens() < config.min_prompt_tokens",
            "uncut_tokens() <= config.min_prompt_tokens",
            "test_results_are_cut_from_the_least_prompt_on",
        ),
        (
            "The last six messages stay whole.",
            "len(current) - config.keep_messages",
            "len(current) - config.keep_messages + 1",
            "test_the_last_six_messages_stay_whole",
        ),
        (
            "Micro-compaction can be switched off.",
            "if not config.enabled or (",
            "if (",
            "test_a_switched_off_micro_compaction_cuts_nothing",
        ),
    ),
    *mutants_of(
        "workers/message_format.py",
        "unit/test_micro.py",
        (
            "A result that no call has contained is not cut.",
            "config.keep_messages), history + contained)",
            "config.keep_messages), history + len(current))",
            "test_the_newest_messages_and_unseen_results_are_never_old",
        ),
    ),
    *mutants_of(
        "workers/message_format.py",
        "unit/test_context.py",
        (
            "An old result keeps 200 characters.",
            "text[:max_chars] + MARK",
            "text[: max_chars + 1] + MARK",
            "test_tool_results_older_than_the_last_six_messages_are_cut",
        ),
        (
            "The cut of micro-compaction moves in steps.",
            "STEP_FACTOR = 2",
            "STEP_FACTOR = 0",
            "test_the_cut_moves_in_steps_so_that_most_calls_share_everything_before",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/prompt_builder.py",
        "unit/test_context.py",
        (
            "The last exchange is never trimmed away.",
            "if not kept and scene.history:",
            "if not kept and scene.history and room == allowed:",
            "test_a_trimming_budget_below_the_last_exchange_keeps_that",
        ),
        (
            "Results are cut as far as configured before anything is left out.",
            "_built(rules, scene, current, old=old, squeezes=True)",
            "_built(rules, scene, current, old=rests_at, squeezes=True)",
            "test_results_are_cut_up_to_the_last_six_messages_when_the_prompt_would_not_fit",
        ),
    ),
    *mutants_of(
        "workers/session_consumer.py",
        "unit/test_boundaries.py",
        (
            "A first rest is the shortest.",
            "2 ** max(0, attempts - 1)",
            "2 ** attempts",
            "test_a_rest_doubles_with_each_attempt_up_to_the_longest",
        ),
        (
            "A rest has a longest.",
            "min(config.backoff_max_s, config.backoff_min_s * 2 ** max(0, attempts - 1))",
            "config.backoff_min_s * 2 ** max(0, attempts - 1)",
            "test_a_rest_doubles_with_each_attempt_up_to_the_longest",
        ),
        (
            "A parked message rests no longer than the longest.",
            "min(config.backoff_max_s, max(rest_s, at_least_s))",
            "max(rest_s, at_least_s)",
            "test_a_parked_message_rests_for_a_quarter_of_its_time_or_as_long_as_told",
        ),
        (
            "A parked message rests as long as it was told.",
            "max(rest_s, at_least_s)",
            "rest_s",
            "test_a_parked_message_rests_for_a_quarter_of_its_time_or_as_long_as_told",
        ),
        (
            "A parked message rests for a share of its time.",
            "parked_s * PARK_SHARE",
            "parked_s",
            "test_a_parked_message_rests_for_a_quarter_of_its_time_or_as_long_as_told",
        ),
        (
            "Rests are spread.",
            "return seconds * random.uniform(0.5, 1.0)",
            "return seconds",
            "test_a_rest_is_no_shorter_than_half_and_no_longer_than_meant",
        ),
    ),
)

"""Mutants of limits of tokens a day and messages a minute, and of accounts."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/usage/lua/bucket.lua",
        "integration/test_usage.py",
        (
            "A clock that was set back fills no bucket.",
            "math.max(0, now - found[2])",
            "(now - found[2])",
            "test_a_clock_that_was_set_back_fills_nothing",
        ),
        (
            "A bucket holds no more than a minute's.",
            "return math.min(limit, found[1]",
            "return (found[1]",
            "test_whoever_waits_is_told_once_in_a_flood",
        ),
        (
            "More at once than a bucket holds are let in when it is full.",
            "math.min(wanted, limits[at])",
            "wanted",
            "test_more_at_once_than_a_bucket_holds_are_let_in_when_it_is_full",
        ),
        (
            "A flood is over when there was room for all.",
            "if full then redis.call('HDEL', KEYS[1], 'told') end\n",
            "",
            "test_whoever_waits_is_told_once_in_a_flood",
        ),
        (
            "Who waits is told once in a flood.",
            "redis.call('HSETNX', KEYS[1], 'told', ARGV[3])",
            "redis.call('HSET', KEYS[1], 'told', ARGV[3])",
            "test_whoever_waits_is_told_once_in_a_flood",
        ),
        (
            "A bucket fills from when it was used.",
            "'at', now)",
            "'at', now + 60000)",
            "test_a_bucket_fills_up_again_and_holds_no_more_than_a_minute",
        ),
        (
            "A bot's messages a minute count.",
            "if limits[3] > 0 then put(KEYS[3], left[3]) end\n",
            "",
            "test_many_at_once_get_exactly_what_there_is",
        ),
    ),
    *mutants_of(
        "daemon/usage/lua/reserve.lua",
        "integration/test_usage.py",
        (
            "Tokens are used up when their limit is reached.",
            "if tokens >= tokens_limit",
            "if tokens > tokens_limit",
            "test_a_limit_refuses_a_call_when_what_was_used_or_is_reserved_reaches_it",
        ),
        (
            "Tokens of answers count.",
            "used(account_key, name, 'in', 'out')",
            "used(account_key, name, 'in')",
            "test_a_limit_refuses_a_call_when_what_was_used_or_is_reserved_reaches_it",
        ),
        (
            "What calls in progress have reserved counts.",
            "if tokens + sum_of(reserved_key, name, kind, 'tokens') >= tokens_limit then found = 'busy' end",
            "",
            "test_of_many_calls_at_once_as_many_are_made_as_limits_have_room_for",
        ),
        (
            "Money is used up when its limit is reached.",
            "if nano >= nano_limit then return 'spent' end",
            "",
            "test_a_limit_refuses_a_call_when_what_was_used_or_is_reserved_reaches_it",
        ),
        (
            "Money that calls in progress have reserved counts.",
            "if nano + sum_of(reserved_key, name, kind, 'nano') >= nano_limit then found = 'busy' end",
            "",
            "test_a_limit_refuses_a_call_when_what_was_used_or_is_reserved_reaches_it",
        ),
        (
            "A reservation is taken once.",
            " or redis.call('HEXISTS', KEYS[6], call) == 1",
            "",
            "test_a_noted_call_counts_what_it_used_instead_of_what_it_had_reserved",
        ),
        (
            "A reservation that arrives after its call was noted is none.",
            "redis.call('HEXISTS', KEYS[1], call) == 1 or ",
            "",
            "test_a_noted_call_counts_what_it_used_instead_of_what_it_had_reserved",
        ),
        (
            "A reservation whose process died ends.",
            "cjson.decode(text).ends <= now",
            "false",
            "test_a_reservation_whose_process_died_counts_as_its_prompt_when_somebody_would_have_to_wait",
        ),
        (
            "A call whose process died counts as its prompt.",
            "book(KEYS[3], reservation.person, reservation)",
            "",
            "test_a_reservation_whose_process_died_counts_as_its_prompt_when_somebody_would_have_to_wait",
        ),
        (
            "A session is told once a day.",
            "redis.call('HSETNX', KEYS[7]",
            "redis.call('HSET', KEYS[7]",
            "test_a_session_is_told_once_a_day_that_its_tokens_are_used_up",
        ),
    ),
    *mutants_of(
        "daemon/usage/lua/note.lua",
        "integration/test_usage.py",
        (
            "A noted call releases what it had reserved.",
            "released(KEYS[6], ARGV[1])\n",
            "",
            "test_a_noted_call_counts_what_it_used_instead_of_what_it_had_reserved",
        ),
    ),
    *mutants_of(
        "daemon/usage/lua/reserved.part.lua",
        "integration/test_usage.py",
        (
            "Nothing stays of a reservation that was released.",
            "if sum <= 0 then redis.call('HDEL', reserved_key, field) end\n",
            "",
            "test_a_noted_call_counts_what_it_used_instead_of_what_it_had_reserved",
        ),
    ),
    *mutants_of(
        "daemon/usage/usage_limits.py",
        "integration/test_usage.py",
        (
            "The share for memory is kept from all others.",
            "1.0 - limits.reserved_for_memory",
            "1.0",
            "test_the_share_for_memory_is_kept_from_all_others",
        ),
    ),
    *mutants_of(
        "daemon/usage/unsent_usage.py",
        "integration/test_ledger.py",
        (
            "Notes of a process that was killed are written by the next.",
            "for note in self._saved.adopt():",
            "for note in ():",
            "test_notes_of_a_process_that_was_killed_are_written_once_by_the_next",
        ),
        (
            "Notes that are saved are not lost when a process stops.",
            "if note not in self._saved:",
            "if True:",
            "test_a_stop_without_redis_reports_the_notes_that_are_lost",
        ),
        (
            "A note is kept until Redis has taken it.",
            "        self._any_kept.set()\n",
            "        self._any_kept.set()\n        self._kept.clear()\n",
            "test_notes_survive_an_outage",
        ),
        (
            "Notes are limited in number.",
            "if len(self._kept) > KEPT_MAX:",
            "if False:",
            "test_notes_are_limited_in_number_and_age",
        ),
        (
            "Old notes are lost, since Redis may have forgotten that it took them.",
            "if anyio.current_time() - since > LATE_S:",
            "if False:",
            "test_notes_are_limited_in_number_and_age",
        ),
        (
            "A refused note does not block the others.",
            "refused = True  #",
            "return False  #",
            "test_a_refused_note_does_not_block_the_others",
        ),
    ),
    *mutants_of(
        "daemon/run.py",
        "integration/test_ledger.py",
        (
            "A process that stops writes its notes within the grace time.",
            "            await process.ledger.written()\n",
            "            pass\n",
            "test_a_stop_writes_the_notes_within_the_grace_time",
        ),
        (
            "A stop without Redis ends with the grace time.",
            "            grace.deadline = min(grace.deadline, anyio.current_time() + process.config.run.grace_s)\n",
            "",
            "test_a_stop_without_redis_reports_the_notes_that_are_lost",
        ),
    ),
    *mutants_of(
        "daemon/usage/lua/note.lua",
        "integration/test_usage.py",
        (
            "Accounts end.",
            "kept(KEYS[4], ARGV[2])\n",
            "",
            "test_accounts_end_after_400_days_and_what_was_noted_after_two",
        ),
        (
            "What was noted ends.",
            "kept(KEYS[1], ARGV[3])\n",
            "",
            "test_accounts_end_after_400_days_and_what_was_noted_after_two",
        ),
    ),
    *mutants_of(
        "daemon/usage/payer.py",
        "integration/test_daily_limits.py",
        (
            "A call that was made is noted at its end.",
            "                await self._settle(name, day, charge)",
            "                pass",
            "test_nothing_stays_reserved_for_a_call_that_failed",
        ),
        (
            "A reservation whose answer was lost is released.",
            "                await self._settle(name, day, {})",
            "                pass",
            "test_a_call_whose_reservation_is_unknown_is_not_made_and_nothing_stays_reserved",
        ),
    ),
    *mutants_of(
        "daemon/model/usage_counts.py",
        "integration/test_daily_limits.py",
        (
            "A call that timed out counts as its prompt.",
            " or isinstance(error, ModelTimeout)",
            "",
            "test_nothing_stays_reserved_for_a_call_that_failed",
        ),
        (
            "A server that is away has not been paid.",
            " or not isinstance(error, ModelUnavailable)",
            " or True",
            "test_nothing_stays_reserved_for_a_call_that_failed",
        ),
    ),
    *mutants_of(
        "workers/paid_calls.py",
        "integration/test_daily_limits.py",
        (
            "A call that is cut short counts.",
            "if not charge and is_charged(error, said):",
            "if False:",
            "test_a_call_that_is_cut_short_counts_as_its_prompt_and_what_it_said",
        ),
    ),
    *mutants_of(
        "workers/agent/model_calls.py",
        "integration/test_limits.py",
        (
            "A turn whose limit ends in the middle keeps its steps.",
            "if not (said or self._turn.progress.step):",
            "if True:",
            "test_a_turn_whose_limit_ends_in_the_middle_ends_with_a_sentence_and_keeps_its_steps",
        ),
    ),
    *mutants_of(
        "workers/agent/limit_gate.py",
        "integration/test_limits.py",
        (
            "Calls within limits are noted once.",
            "if payer.is_limited:",
            "if False:",
            "test_a_turn_within_limits_is_noted_once",
        ),
    ),
    *mutants_of(
        "workers/agent/turn_endings.py",
        "integration/test_daily_limits.py",
        (
            "A message that a limit refused makes no consolidation due.",
            "[msgspec.structs.replace(entry, tokens=0) for entry in turn.progress.entries]",
            "turn.progress.entries",
            "test_a_message_that_a_limit_refused_is_in_no_later_prompt_and_no_summary",
        ),
    ),
    *mutants_of(
        "workers/message_format.py",
        "integration/test_daily_limits.py",
        (
            "A message that a limit refused is no material of a summary.",
            "entries = [entry for entry in entries if entry.turn not in unpaid]",
            "pass",
            "test_a_message_that_a_limit_refused_is_in_no_later_prompt_and_no_summary",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/history_messages.py",
        "integration/test_daily_limits.py",
        (
            "A message that a limit refused is in no later prompt.",
            "if answer.refused or answer.unpaid or not is_plain:",
            "if answer.refused or not is_plain:",
            "test_a_message_that_a_limit_refused_is_in_no_later_prompt_and_no_summary",
        ),
    ),
    *mutants_of(
        "workers/consolidation/summary/flush_request.py",
        "unit/test_flush.py",
        (
            "No silent turn is about messages that limits refused.",
            "if not without_refused(entries):",
            "if False:",
            "test_messages_that_limits_refused_are_no_reason_for_a_silent_turn",
        ),
    ),
    *mutants_of(
        "workers/consolidation/consolidation_rounds.py",
        "integration/test_daily_limits.py",
        (
            "A consolidation takes from limits.",
            "self._kit = kit = kit.paid_by(payer)",
            "self._kit = kit",
            "test_a_consolidation_waits_while_a_limit_is_used_up",
        ),
    ),
    *mutants_of(
        "workers/consolidation/consolidation_kits.py",
        "integration/test_daily_limits.py",
        (
            "Consolidations may use what is reserved for memory.",
            "for_memory=True",
            "for_memory=False",
            "test_what_is_reserved_for_memory_is_left_to_a_consolidation_when_turns_have_used_up_the_rest",
        ),
        (
            "Whoever waits for a consolidation pays for it.",
            "user=want.user or user_of_scope",
            "user=user_of_scope",
            "test_a_consolidation_waits_while_a_limit_is_used_up",
        ),
    ),
    *mutants_of(
        "daemon/recall/reranking.py",
        "integration/test_daily_limits.py",
        (
            "Vectors and reranked searches take from limits.",
            "or not bot.limits.any_daily:",
            "or True:",
            "test_vectors_of_a_server_are_counted_and_a_search_uses_words_when_a_limit_is_used_up",
        ),
    ),
    *mutants_of(
        "daemon/recall/reranking.py",
        "integration/test_daily_limits.py",
        (
            "A reranked search takes from limits.",
            "        if payer is None:",
            "        if True:",
            "test_calls_of_a_reranker_are_counted_and_the_order_stays_when_a_limit_is_used_up",
        ),
    ),
    *mutants_of(
        "workers/agent/file_intake.py",
        "integration/test_content.py",
        (
            "Transcriptions are counted.",
            "            account(charge, answer)\n        return",
            "        return",
            "test_a_transcription_counts_its_tokens_or_ten_a_second",
        ),
    ),
    *mutants_of(
        "workers/agent/spoken_answer.py",
        "integration/test_content.py",
        (
            "Spoken answers are counted.",
            "                account(charge, used)\n        finally",
            "                pass\n        finally",
            "test_a_voice_message_is_answered_by_voice_and_as_text",
        ),
        (
            "A long answer is not spoken.",
            " or len(text) > config.max_chars",
            "",
            "test_an_answer_that_cannot_be_spoken_comes_as_text",
        ),
    ),
    *mutants_of(
        "workers/agent/turn.py",
        "integration/test_limits.py",
        (
            "Commands count as messages.",
            "room = None if hold.stop_upto else await self._gate.wait(claim, command, at)",
            "room = None",
            "test_commands_count_as_messages_and_keep_their_place_until_there_is_room",
        ),
    ),
    *mutants_of(
        "workers/agent/commands/session_commands.py",
        "integration/test_limits.py",
        (
            "A stop carries out no command for which there is no room.",
            "        if room is None:\n            return await self.outcome",
            "        if True:\n            return await self.outcome",
            "test_commands_count_as_messages_and_keep_their_place_until_there_is_room",
        ),
    ),
    *mutants_of(
        "workers/agent/commands/immediate_answers.py",
        "integration/test_limits.py",
        (
            "A search by a command needs room.",
            "        return room.wait_s",
            "        return 0.0",
            "test_a_search_aside_needs_room_and_takes_none_from_messages_before_it",
        ),
    ),
    *mutants_of(
        "daemon/usage/lua/bucket.lua",
        "integration/test_limits.py",
        (
            "A command aside takes no message for counted that waits before it.",
            "redis.call('HSET', KEYS[1], ARGV[8], ARGV[1])",
            "redis.call('HSET', KEYS[1], 'taken', ARGV[1], 'aside', ARGV[1])",
            "test_a_search_aside_needs_room_and_takes_none_from_messages_before_it",
        ),
    ),
    *mutants_of(
        "workers/agent/tool_loop.py",
        "integration/test_tools.py",
        (
            "A turn runs no more tool calls than are allowed.",
            "if call.id in beyond:",
            "if False:",
            "test_no_more_calls_of_a_turn_are_run_than_are_allowed_and_the_model_is_told_so",
        ),
    ),
    *mutants_of(
        "workers/agent/log_entries.py",
        "integration/test_tools.py",
        (
            "Tool calls of earlier answers of a turn count.",
            "count, last = sum(map(len, answers)),",
            "count, last = sum(map(len, answers[-1:])),",
            "test_no_more_calls_of_a_turn_are_run_than_are_allowed_and_the_model_is_told_so",
        ),
    ),
    *mutants_of(
        "daemon/config/bot_rules.py",
        "unit/test_config.py",
        (
            "A limit of costs needs prices.",
            "if prices == PricesConfig():",
            "if False:",
            "test_a_limit_of_costs_needs_prices_of_all_models_in_one_currency",
        ),
        (
            "A limit of costs is in one currency.",
            "if len(currencies) > 1:",
            "if False:",
            "test_a_limit_of_costs_needs_prices_of_all_models_in_one_currency",
        ),
    ),
)

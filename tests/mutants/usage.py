"""Mutants of what is used: limits of messages and tokens, what is left of them, and shares of prompt caches."""

from tests.mutants.mutant import Mutant, mutants_of

MUTANTS = (
    Mutant(
        rule="A message takes its part of a bucket once, however often it is asked for.",
        file="daemon/usage/lua/bucket.lua",
        old="or (taken and before_or_at(ARGV[1], taken))",
        new="",
        caught_by="integration/test_usage.py::test_room_is_taken_out_of_all_buckets_or_none_and_once_for_a_message",
    ),
    *mutants_of(
        "daemon/usage/lua/warn.lua",
        "integration/test_limit_warnings.py",
        (
            "One worker tells the administrators of a limit.",
            "redis.call('HSETNX', KEYS[1]",
            "redis.call('HSET', KEYS[1]",
            "test_administrators_are_told_once_a_day_over_all_workers_that_a_limit_is_nearly_used_up",
        ),
    ),
    *mutants_of(
        "workers/admin_messages.py",
        "integration/test_limit_warnings.py",
        (
            "A service tells of a limit once.",
            "if known in self._told or not await",
            "if not await",
            "test_a_warning_that_could_not_be_sent_is_sent_after_the_next_turn",
        ),
        (
            "A warning that could not be sent is sent later.",
            "self._told.discard(known)",
            "pass",
            "test_a_warning_that_could_not_be_sent_is_sent_after_the_next_turn",
        ),
    ),
    *mutants_of(
        "workers/consolidation/consolidation_kits.py",
        "integration/test_limit_warnings.py",
        (
            "Administrators are told after consolidations, too.",
            "        await stores.warnings.look(payer.user)\n",
            "",
            "test_administrators_are_told_when_a_consolidation_brings_a_limit_close_to_its_end",
        ),
    ),
    *mutants_of(
        "daemon/cli/doctor/model_checks.py",
        "integration/test_learnt.py",
        (
            "The doctor does not judge a few calls.",
            "if amount.calls < CALLS_MIN or ",
            "if ",
            "test_the_doctor_warns_of_a_bot_whose_prompts_are_seldom_cached",
        ),
        (
            "The doctor names refused hints for prompt caches as the cause.",
            "if learnt and learnt.dialect and HINTS",
            "if learnt and learnt.dialect and set() and HINTS",
            "test_the_doctor_warns_of_a_bot_whose_prompts_are_seldom_cached",
        ),
    ),
    *mutants_of(
        "daemon/usage/remaining_limits.py",
        "unit/test_usage_left.py",
        (
            "Usage lies in the middle of the time in which it happened.",
            "2 * (second - ",
            "(second - ",
            "test_steady_usage_is_measured_from_its_first_message_on",
        ),
        (
            "The limits that are shown are those of turns.",
            "Allowance.of(bot)",
            "Allowance.of(bot, for_memory=True)",
            "test_the_rest_of_money_and_tokens_is_without_the_share_that_is_reserved_for_memory",
        ),
    ),
    *mutants_of(
        "daemon/usage/remaining_limits.py",
        "integration/test_limit_warnings.py",
        (
            "Administrators are told of limits of money.",
            "each=allowance.nano",
            "each=EachConfig()",
            "test_administrators_are_told_once_a_day_over_all_workers_that_a_limit_is_nearly_used_up",
        ),
    ),
    *mutants_of(
        "workers/agent/limit_gate.py",
        "integration/test_limit_warnings.py",
        (
            "Administrators are told after turns.",
            "        await self._warnings.look(payer.user)\n",
            "",
            "test_administrators_are_told_once_a_day_over_all_workers_that_a_limit_is_nearly_used_up",
        ),
    ),
    *mutants_of(
        "daemon/tokens.py",
        "unit/test_tokens.py",
        (
            "Long texts of the same length are counted each.",
            "key = hash(text), len(text)",
            "key = 0, len(text)",
            "test_a_long_text_is_counted_once",
        ),
        (
            "Only the counts of the latest long texts are kept.",
            "list(self._long)[:-LONG_KEPT]",
            "()",
            "test_a_long_text_is_counted_once",
        ),
    ),
    *mutants_of(
        "daemon/vocabulary.py",
        "unit/test_tokens.py",
        (
            "Control characters of ASCII are no white space.",
            "pattern), re.ASCII)",
            "pattern))",
            "test_a_text_of_ascii_characters_has_the_words_of_the_whole_expression",
        ),
        (
            "Texts of ASCII characters have the words of other texts.",
            '"Lu": "A-Z"',
            '"Lu": "A-Y"',
            "test_a_text_of_ascii_characters_has_the_words_of_the_whole_expression",
        ),
        (
            "The neighbours with the lowest rank become one token first.",
            "lowest := min(ranks)",
            "lowest := next(filter(NO_RANK.__gt__, ranks), NO_RANK)",
            "test_counts_are_those_of_another_implementation",
        ),
        (
            "A word is not cut inside of a token.",
            "word[end - 3 : end + 3] not in joints and ",
            "",
            "test_counts_are_those_of_another_implementation",
        ),
        (
            "A word is not cut inside of a token that contains a part of a character.",
            " and word[end - 1 : end + 1] not in joints",
            "",
            "test_counts_are_those_of_another_implementation",
        ),
        (
            "Tokens are counted only with the original vocabulary.",
            "if hashlib.sha256(lines).hexdigest() != checksum:",
            "if not checksum:",
            "test_a_changed_vocabulary_is_not_used",
        ),
    ),
    *mutants_of(
        "daemon/server/redis_program.py",
        "integration/test_server.py",
        (
            "An embedded server uses no huge pages of memory.",
            '"MIMALLOC_ALLOW_THP": "0"',
            '"MIMALLOC_ALLOW_THP": "1"',
            "test_the_servers_memory_comes_from_the_library_that_came_with_it",
        ),
    ),
)

"""Mutants of what becomes of a failed model call."""

from tests.mutants.mutant import mutants_of

TESTS = "integration/test_failures.py"
OF_MESSAGE = "test_a_failure_of_one_message_while_the_model_answers_a_test_message_gives_up_that_message"
OF_MODEL = "test_a_model_that_fails_with_a_test_message_too_is_not_set_up_right"
OF_HISTORY = "test_an_answer_that_the_server_refuses_to_be_sent_does_not_block_later_messages"
OF_CONVERSATIONS = "test_administrators_are_told_when_the_messages_of_several_conversations_are_refused_in_a_row"

MUTANTS = (
    *mutants_of(
        "daemon/session/lua/release.lua",
        TESTS,
        (
            "An outage is announced when it lasts.",
            "if now - parked_at + delay >= tonumber(ARGV[13]) then",
            "if true then",
            "test_an_outage_is_asked_about_by_all_until_it_lasts",
        ),
        (
            "The reason of a parked session is kept.",
            "  redis.call('HSET', KEYS[1], 'parked_why', ARGV[12])",
            "",
            "test_the_reason_of_what_is_parked_is_shown",
        ),
    ),
    *mutants_of(
        "daemon/model/lua/failing.lua",
        TESTS,
        (
            "An outage that nobody has noticed for long is another one.",
            " or now - at > tonumber(ARGV[6])",
            "",
            "test_an_outage_that_nobody_has_noticed_for_long_is_another_one",
        ),
        (
            "Administrators are told of a fault in the set-up once an hour.",
            "and (not told or now - told >= tonumber(ARGV[5]))",
            "and not told and false",
            "test_a_set_up_fault_is_named_to_those_who_can_mend_it",
        ),
    ),
    *mutants_of(
        "daemon/model/lua/probe.lua",
        TESTS,
        (
            "One caller at a time asks a model that fails.",
            "redis.call('HSET', KEYS[1], 'next', now + ARGV[2])",
            "redis.call('HSET', KEYS[1], 'next', 0)",
            "test_one_caller_at_a_time_finds_out_whether_a_model_works_again",
        ),
        ("Refusals are no reason not to ask.", " or kind == 'refused'", "", OF_CONVERSATIONS),
    ),
    *mutants_of(
        "daemon/model/model_status.py",
        TESTS,
        (
            "A server that asks for a long pause is asked after a minute.",
            "min(RETRY_AFTER_MAX_S, max(",
            "max(0.0, max(",
            "test_a_server_that_asks_for_an_hour_is_asked_after_a_minute",
        ),
        (
            "A wrong key of one bot is of no concern to another.",
            'f"{model.base_url} {model.api_key.reveal()}"',
            '""',
            "test_a_bot_does_not_wait_because_of_the_key_or_the_address_of_another_one",
        ),
    ),
    *mutants_of(
        "workers/agent/turn.py",
        TESTS,
        (
            "A caller whose message is refused finds out that the model is there.",
            "        await self._health.works(bot.model, was_parked=parked_s > 0)\n",
            "",
            "test_a_caller_whose_message_is_refused_finds_out_that_the_model_is_there",
        ),
        (
            "A stop says nothing about a model that fails.",
            "        if answer is None:\n",
            "        await self._health.works(model, was_parked=parked_s > 0)\n        if answer is None:\n",
            "test_a_stop_says_nothing_about_a_model_that_fails",
        ),
        (
            "A turn notes that the model works before the turn ends.",
            "            if turn.progress.used:\n",
            "            if False:\n",
            "test_others_need_not_wait_for_the_end_of_a_long_turn_that_finds_a_model_to_work",
        ),
    ),
    *mutants_of(
        "workers/agent/model_calls.py",
        TESTS,
        (
            "A status may be about one message.",
            "return bool(error.status) and error.status not in OF_ACCOUNT",
            "return False",
            OF_MESSAGE,
        ),
        (
            "A web page is no refusal until the last attempt.",
            "is_last = turn.claim.begun.attempts >= attempts_max",
            "is_last = True",
            "test_a_message_is_answered_although_a_proxy_in_trouble_answered_twice_with_a_web_page",
        ),
        (
            "A long outage may be one of one message.",
            "return begun.parked_s > OUTAGE_S",
            "return False",
            OF_MESSAGE,
        ),
        (
            "A refusal may be one of every message.",
            "            return begun.attempts >= REFUSED_ATTEMPTS",
            "            return False",
            OF_MODEL,
        ),
        (
            "A broken answer may be one to every message.",
            "return begun.attempts >= attempts_max",
            "return False",
            OF_MODEL,
        ),
    ),
    *mutants_of(
        "workers/model_health.py",
        TESTS,
        (
            "Administrators are told of refusals in several conversations.",
            "if len(sessions) < REFUSED_SESSIONS:",
            "if True:",
            OF_CONVERSATIONS,
        ),
        (
            "An answer ends the report of refusals.",
            "if len(sessions) >= REFUSED_SESSIONS:",
            "if False:",
            OF_CONVERSATIONS,
        ),
    ),
    *mutants_of(
        "daemon/recall/index/index_rows.py",
        TESTS,
        ("A refused message is not found.", "entry.turn in refused or ", "", OF_MESSAGE),
    ),
    *mutants_of(
        "daemon/cli/run_command.py",
        TESTS,
        (
            "The start names each model and its server.",
            "        if not bot.model.offline:\n",
            "        if False:\n",
            "test_the_start_names_the_model_of_each_bot_and_its_server",
        ),
    ),
    *mutants_of(
        "daemon/model/http_model.py",
        "integration/test_openai_model.py",
        (
            "A server that asks for an hour is asked by this process after a minute.",
            "min(asked_s or 0.0, RETRY_AFTER_MAX_S)",
            "(asked_s or 0.0)",
            "test_a_long_rate_limit_holds_for_all_calls_of_the_client_until_it_is_over",
        ),
        (
            "A web page is a fault of the set-up.",
            'if is_first and piece.lstrip()[:1] == b"<":',
            "if False:",
            "test_a_web_page_in_place_of_an_answer_is_a_fault_of_the_set_up",
        ),
    ),
    *mutants_of(
        "workers/agent/announcements.py",
        TESTS,
        (
            "Other people are not told the cause of a fault in the set-up.",
            'if inbound.delivery == "pull" or is_admin(bot, inbound):',
            "if True:",
            "test_a_set_up_fault_is_named_to_those_who_can_mend_it",
        ),
    ),
    *mutants_of(
        "workers/agent/turn_endings.py",
        TESTS,
        (
            "A refused message is given up after its attempts.",
            "isinstance(error, ModelRefused) and attempts >= REFUSED_ATTEMPTS",
            "isinstance(error, ModelRefused) and attempts >= 9",
            "test_a_refused_message_is_given_up_alone_and_never_sent_again",
        ),
        (
            "A dead letter has no words of the server.",
            "reason=error.brief, refused=True",
            "reason=str(error), refused=True",
            "test_a_refused_message_is_given_up_alone_and_never_sent_again",
        ),
        (
            "A refused message is not shown to a model again.",
            "refused=True, go_on",
            "refused=False, go_on",
            "test_a_refused_message_is_given_up_alone_and_never_sent_again",
        ),
    ),
    *mutants_of(
        "workers/agent/model_calls.py",
        TESTS,
        (
            "An answer that breaks off after text was shown counts.",
            "            if not shown:\n                raise\n",
            "            raise\n",
            "test_an_answer_that_breaks_off_after_text_was_shown_counts_as_an_attempt",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/turn_requests.py",
        TESTS,
        (
            "A message is sent without older ones before it is given up.",
            "self._renew(replace(self.past, history=History()))",
            "pass",
            OF_HISTORY,
        ),
        (
            "Recall does not bring back the messages that were left out.",
            "PromptMessages(past=self.past, first=sys.maxsize)",
            "None",
            OF_HISTORY,
        ),
    ),
    *mutants_of(
        "workers/agent/model_calls.py",
        TESTS,
        (
            "A large prompt that is refused for its words is sent without older messages.",
            "with suppress(ModelRefused):  # then its size is not the cause",
            "if True:",
            "test_a_large_prompt_that_is_refused_for_its_words_is_sent_without_older_messages",
        ),
    ),
    *mutants_of(
        "daemon/session/lua/claim.lua",
        TESTS,
        (
            "Messages behind a parked one are counted.",
            "if not told or count <= told then return result end",
            "if true then return result end",
            "test_messages_behind_a_parked_one_are_counted_for_their_people",
        ),
    ),
)

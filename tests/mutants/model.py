"""Mutants of models behind Anthropic's API, and of what all models behind servers share."""

from tests.mutants.mutant import mutants_of

REQUEST, SERVER = "unit/test_anthropic_request.py", "integration/test_anthropic_model.py"

MUTANTS = (
    *mutants_of(
        "daemon/model/http_transport.py",
        "integration/test_http_transport.py",
        (
            "A connection on which the rest of an answer may come is not used again.",
            "is_whole and len",
            "len",
            "test_a_connection_is_used_again_only_after_a_whole_answer",
        ),
        (
            "A connection that its server has closed is not used again.",
            "< IDLE_S and not self._socket.poll(0)",
            "< IDLE_S",
            "test_a_connection_that_its_server_closed_or_that_rested_too_long_is_left",
        ),
        (
            "The answer of a server that refuses a request before it has read it is read.",
            "with suppress(OSError, anyio.BrokenResourceError):\n            for data",
            "with suppress():\n            for data",
            "test_a_server_that_closes_before_it_has_read_the_request_is_heard",
        ),
    ),
    *mutants_of(
        "daemon/model/anthropic/anthropic_request.py",
        REQUEST,
        (
            "No text of a request is white space alone.",
            "isinstance(part, str) and part.strip()",
            "isinstance(part, str) and part",
            "test_every_history_becomes_a_request_that_the_api_takes",
        ),
        (
            "A request begins with the user's message.",
            "        if not self._messages:\n",
            "        if False:\n",
            "test_every_history_becomes_a_request_that_the_api_takes",
        ),
        (
            "Ids of calls have only letters that the API takes.",
            '_NO_ID_CHAR.sub("_", given)',
            "given",
            "test_every_history_becomes_a_request_that_the_api_takes",
        ),
        (
            "Each id of a call is used once.",
            "self._taken.add(found)",
            "pass",
            "test_ids_that_come_again_are_told_apart_and_others_stay",
        ),
        (
            "Results stand before what was said.",
            "content = [*self._results.values(), *self._user]",
            "content = [*self._user, *self._results.values()]",
            "test_results_stand_before_what_was_said_in_the_order_of_the_calls_and_each_call_has_one",
        ),
        (
            "A thought comes back at its place among the calls.",
            "            content += [block for at, block in thoughts if at == number]\n",
            "            content += [block for at, block in thoughts if at == number + 1]\n",
            "test_thinking_comes_back_unchanged_in_its_order_and_only_to_its_own_model",
        ),
        (
            "A thought comes back as it came, without what Millpond added.",
            'if name not in ("at", "index")',
            'if name != "at"',
            "test_thinking_comes_back_unchanged_in_its_order_and_only_to_its_own_model",
        ),
        (
            "A turn that another model began goes on without thinking.",
            "or not _begins_with_thinking(messages)",
            "",
            "test_thinking_comes_back_unchanged_in_its_order_and_only_to_its_own_model",
        ),
        (
            "The budget for thinking leaves room for an answer.",
            "config.budget_tokens >= most",
            "config.budget_tokens > most",
            "test_no_tool_is_forced_while_the_model_thinks_and_thinking_leaves_room_for_an_answer",
        ),
        (
            "No tool is forced while the model thinks.",
            ' and thinks.get("type", "disabled") == "disabled"',
            "",
            "test_no_tool_is_forced_while_the_model_thinks_and_thinking_leaves_room_for_an_answer",
        ),
        (
            "A tool that is not offered any more cannot be called.",
            'fields["tool_choice"] = {"type": "none"}',
            "pass",
            "test_calls_of_tools_that_are_not_offered_any_more_cannot_be_made_again",
        ),
        (
            "What is the same at the next call is cached.",
            "        if at in marks:\n",
            "        if False:\n",
            "test_what_is_the_same_at_the_next_call_is_marked_to_be_cached",
        ),
    ),
    *mutants_of(
        "daemon/model/adaptation.py",
        "unit/test_dialect.py",
        (
            "A result of a tool has no mark at OpenRouter.",
            "if message.startswith(_TOOL) or not content:",
            "if not content:",
            "test_four_marks_at_most_tell_openrouter_what_stays_and_none_stands_at_a_result",
        ),
        (
            "The end of the head is marked to be cached.",
            "{1, request.head, len",
            "{1, len",
            "test_four_marks_at_most_tell_openrouter_what_stays_and_none_stands_at_a_result",
        ),
    ),
    *mutants_of(
        "daemon/model/dialect.py",
        "unit/test_dialect.py",
        (
            "What a model alone understands is sent to no other.",
            'if b"\\n" not in body:',
            "if body:",
            "test_what_a_model_alone_understands_is_sent_to_that_model_alone",
        ),
        (
            "A server that refuses prompt_cache_key is asked without.",
            'if self.key and "prompt_cache_key" in text',
            'if not self.key and "prompt_cache_key" in text',
            "test_a_refusal_teaches_what_it_names",
        ),
        (
            "OpenRouter's models of Anthropic get marks.",
            "Dialect(marks=True)",
            "Dialect()",
            "test_four_marks_at_most_tell_openrouter_what_stays_and_none_stands_at_a_result",
        ),
    ),
    *mutants_of(
        "daemon/model/usage_counts.py",
        "integration/test_openai_model.py",
        (
            "Anthropic counts cached tokens beside the prompt.",
            "return _count(given, (\"prompt_tokens\",)) is None or cached > prompt",
            "return False",
            "test_usage_is_priced_and_what_was_cached_costs_less",
        ),
        (
            "Gateways to Anthropic count cached tokens as a part of the prompt.",
            "return _count(given, (\"prompt_tokens\",)) is None or cached > prompt",
            "return True",
            "test_usage_is_priced_and_what_was_cached_costs_less",
        ),
    ),
    *mutants_of(
        "daemon/model/usage_counts.py",
        "integration/test_openai_model.py",
        (
            "Tokens that are written to a cache have a price of their own.",
            "fresh + written + cached",
            "fresh + cached",
            "test_usage_is_priced_and_what_was_cached_costs_less",
        ),
    ),
    *mutants_of(
        "daemon/model/anthropic/anthropic_events.py",
        REQUEST,
        (
            "Tokens that were read from the cache and written to it are tokens of the prompt.",
            '"prompt_tokens": fresh + read + written',
            '"prompt_tokens": fresh + read',
            "test_a_stream_and_a_whole_message_are_the_same_answer_however_they_are_torn",
        ),
        (
            "A provider that reports no cached tokens is not taken for one that cached nothing.",
            "if self._reports_cached:",
            "if self._counts:",
            "test_a_stream_and_a_whole_message_are_the_same_answer_however_they_are_torn",
        ),
        (
            "An answer that pauses is not whole.",
            'return "length" if reason == "pause_turn" else reason',
            "return reason",
            "test_an_answer_that_is_not_whole_is_cut_off",
        ),
        (
            "The signature of a thought is kept.",
            "    if delta.type in (\"thinking_delta\", \"signature_delta\"):\n",
            "    if delta.type in (\"thinking_delta\",):\n",
            "test_an_answer_can_be_sent_back_as_it_came",
        ),
    ),
    *mutants_of(
        "daemon/model/anthropic/anthropic_model.py",
        SERVER,
        (
            "The SDK sends nothing again by itself.",
            "max_retries=0",
            "max_retries=1",
            "test_a_status_becomes_the_error_that_it_means",
        ),
        (
            "Where there is no key, none is sent.",
            '            "Authorization": anthropic.Omit(),\n',
            "",
            "test_nothing_of_the_environment_is_sent_in_place_of_a_key",
        ),
    ),
    *mutants_of(
        "daemon/model/http_model.py",
        SERVER,
        (
            "A form that makes no difference is not tried.",
            "if (other := self._body(each, request)) != body:",
            "if other := self._body(each, request):",
            "test_a_refusal_that_teaches_nothing_is_told_after_one_request",
        ),
        (
            "A rate limit holds for all calls until it is over.",
            "self._limited_until = anyio.current_time() + min(asked_s or 0.0, RETRY_AFTER_MAX_S)",
            "pass",
            "test_a_rate_limit_says_when_to_come_back_and_holds_until_then",
        ),
    ),
    *mutants_of(
        "daemon/model/dialect.py",
        "unit/test_dialect.py",
        (
            "One host's two APIs have a dialect each.",
            'return f"anthropic:{host_of(config.base_url or ANTHROPIC_BASE_URL)}"',
            "pass",
            "test_two_apis_of_one_host_have_a_dialect_each",
        ),
    ),
)  # fmt: skip

"""Mutants of what a model's server is sent, and of what is read from its answers."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/model/adaptation.py",
        "unit/test_own.py",
        (
            "Another model does not get a model's own fields.",
            "    if kept.of != of:\n        return False\n",
            "",
            "test_the_model_that_gave_it_gets_it_back_and_no_other_does",
        ),
        (
            "Own fields go back with the turn in progress only.",
            '{"turn": turn,',
            '{"turn": 0,',
            "test_it_goes_back_with_the_turn_in_progress_or_with_all_or_with_none",
        ),
        (
            "Results are renamed with their calls.",
            'fields["tool_call_id"] = nine(',
            'fields["tool_call_id"] = str(',
            "test_ids_of_calls_and_results_stay_together_in_nine_letters_and_digits",
        ),
        (
            "Calls of another model are told as text where a server wants its own fields.",
            "told |= {str",
            "told &= {str",
            "test_calls_of_another_model_are_told_as_text_where_a_server_wants_its_own_fields_with_each_call",
        ),
        (
            "A model's own calls stay calls.",
            'form.foreign == "text" and not is_given_back',
            'form.foreign == "text"',
            "test_calls_of_another_model_are_told_as_text_where_a_server_wants_its_own_fields_with_each_call",
        ),
        (
            "Answers with calls are not merged.",
            "if message.startswith(role) and _CALLS not in message)",
            "if message.startswith(role))",
            "test_instructions_and_neighbouring_messages_are_merged_where_a_chat_template_wants_it",
        ),
        (
            "Pictures are left out where none are accepted.",
            "    if not form.pictures:\n        fields",
            "    if form.pictures:\n        fields",
            "test_pictures_become_a_word_where_none_are_taken",
        ),
    ),
    *mutants_of(
        "daemon/model/dialect.py",
        "unit/test_dialect.py",
        (
            "A refused schema does not take the tools away.",
            "self._schemas, self._tools,",
            "self._tools,",
            "test_a_refusal_teaches_what_it_names",
        ),
        (
            "A refused id is no refusal of tools.",
            "_IDS.search(text) or is_of_order(text)",
            "is_of_order(text)",
            "test_a_refusal_teaches_what_it_names",
        ),
        (
            "A provider is known by the end of its host.",
            ".endswith(name)",
            ".startswith(name)",
            "test_providers_are_known_by_the_end_of_their_host",
        ),
        (
            "A server without streams is not asked for one.",
            '"stream":true\' if self.stream else',
            '"stream":true\' if True else',
            "test_a_request_is_written_as_the_dialect_says",
        ),
    ),
    *mutants_of(
        "daemon/model/dialect_store.py",
        "integration/test_learnt.py",
        (
            "Facts about a server are kept for other processes.",
            'await bus.call("SET", _key(bus, each), _encode(learnt), "EX", kept_s)',
            "pass",
            "test_another_process_uses_what_was_learnt",
        ),
        (
            "Facts about a server expire.",
            ', "EX", kept_s',
            "",
            "test_a_fact_is_forgotten_after_a_week_and_one_that_cannot_be_read_at_once",
        ),
        (
            "A window that was learned holds for the configured window only.",
            " and learnt.configured_tokens == each.context_window_tokens",
            "",
            "test_another_window_in_the_configuration_is_tried_as_it_is",
        ),
    ),
    *mutants_of(
        "daemon/model/answer_parts.py",
        "integration/test_openai_model.py",
        (
            "The reason of an end is read whatever its case.",
            "str(choice.finish_reason).lower()",
            "str(choice.finish_reason)",
            "test_a_cut_off_answer_is_invalid_and_keeps_its_text_whatever_its_server_calls_the_reason",
        ),
        (
            "A server that fails within its answer gave none.",
            "if self._finish in _BROKEN:",
            "if False:",
            "test_a_server_that_failed_within_its_answer_is_unavailable",
        ),
        (
            "An error that MiniMax reports in its own field is an error.",
            'if result.get("status_code"):',
            "if False:",
            "test_an_error_in_any_field_of_an_event_is_an_error",
        ),
        (
            "Reasoning in parts is no text.",
            "            self._thought.append(thought)",
            "            pass",
            "test_reasoning_in_a_list_of_parts_is_reasoning",
        ),
    ),
    *mutants_of(
        "daemon/model/text_tool_calls.py",
        "unit/test_text_calls.py",
        (
            "Only tools that were offered are called.",
            "if any(name not in offered for name, _ in found):",
            "if False:",
            "test_nothing_else_is_a_call",
        ),
        (
            "A text with more than calls is a text.",
            "    if form.sub",
            "    if not form.sub",
            "test_nothing_else_is_a_call",
        ),
    ),
    *mutants_of(
        "daemon/model/reasoning.py",
        "unit/test_thinking.py",
        (
            "A mark in quotation marks is text.",
            "if not before.endswith(tuple(_QUOTES)) and",
            "if",
            "test_reasoning_and_text",
        ),
        (
            "Reasoning without its first mark is reasoning.",
            "            if found is not None:\n                return self._take_back(whole, found)\n",
            "",
            "test_reasoning_and_text",
        ),
    ),
    *mutants_of(
        "workers/agent/model_calls.py",
        "integration/test_cut_off.py",
        (
            "A filtered prompt is asked once.",
            "                return self._refused(error, said)",
            "                continue",
            "test_a_prompt_that_a_content_filter_refuses_is_told_after_one_request",
        ),
        (
            "A prompt that was refused is halved when it is large only.",
            " and request.tokens >= LARGE_TOKENS",
            "",
            "test_a_small_prompt_that_is_refused_is_not_sent_again",
        ),
        (
            "The size that was accepted is remembered.",
            "calibration(taker.name, taker.base_url).fits(shorter.tokens, is_guess=is_guess)",
            "pass",
            "test_a_large_prompt_that_is_refused_for_no_known_reason_is_halved_once_and_its_size_remembered",
        ),
        (
            "A call that was cut in half gets more room.",
            "request = self._requests.with_more_room(request)",
            "pass",
            "test_a_call_cut_in_half_is_asked_for_again_with_more_room",
        ),
        (
            "Reasoning alone is asked for once more.",
            "                if has_thought:\n",
            "                if True:\n",
            "test_an_answer_after_reasoning_alone_is_the_answer",
        ),
    ),
    *mutants_of(
        "daemon/proxies.py",
        "integration/test_proxies.py",
        (
            "A server on this machine is reached without a proxy.",
            "if is_loopback(host) or proxy_bypass(host) or",
            "if proxy_bypass(host) or",
            "test_what_is_near_is_asked_without_the_proxy",
        ),
        (
            "Hosts of NO_PROXY are reached directly.",
            "if is_loopback(host) or proxy_bypass(host) or _is_excepted(host, there.port):",
            "if is_loopback(host):",
            "test_hosts_of_no_proxy_are_reached_directly",
        ),
    ),
)

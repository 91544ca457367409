"""Mutants of the audit of consolidations, of pinned lines, and of the tools that a bot is told of."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "workers/consolidation/audit/fact_extraction.py",
        "unit/test_audit.py",
        (
            "Only people ask for something to be kept.",
            "if not is_bot and _asks(sentence):",
            "if _asks(sentence):",
            "test_only_people_ask_for_something_to_be_kept",
        ),
        (
            "A question that was answered is not open.",
            'return "question" if is_open else None',
            'return "question"',
            "test_a_question_with_a_later_message_is_not_open",
        ),
        (
            "A part of a longer word is no fact.",
            "or text in _NO_NAMES or not is_whole(sentence, begin, end):",
            "or text in _NO_NAMES:",
            "test_facts_and_statements_are_found_in_english_and_chinese",
        ),
    ),
    *mutants_of(
        "workers/consolidation/audit/fact_extraction.py",
        "unit/test_audit.py",
        (
            "A number within a longer one is another number.",
            "if is_whole(whole, at, at + len(plain)):",
            "if plain:",
            "test_a_fact_is_kept_as_it_was_written",
        ),
        (
            "A rule without its negation is another rule.",
            "for term in terms(word)) - _NEGATIONS",
            "for term in terms(word))",
            "test_a_statement_is_kept_if_one_sentence_has_all_of_its_words_but_common_ones",
        ),
        (
            "A statement is kept by one sentence, not by several.",
            "for text in self._texts for _, each in sentences_of(text)]",
            "for each in self._texts]",
            "test_a_statement_is_kept_if_one_sentence_has_all_of_its_words_but_common_ones",
        ),
    ),
    *mutants_of(
        "workers/consolidation/audit/pinned_statements.py",
        "unit/test_audit.py",
        (
            "The pinned part is bounded.",
            'and fits("\\n".join([*lines, line])):',
            "and line:",
            "test_the_pinned_part_never_grows_beyond_its_bound",
        ),
        (
            "What MEMORY.md contains is not pinned.",
            "in lines_not_in(list(dict.fromkeys(map(_one_line, statements))), Texts([memory])):",
            "in list(dict.fromkeys(map(_one_line, statements))):",
            "test_statements_are_pinned_once_and_nothing_else_changes",
        ),
        (
            "A blank line ends the pinned list.",
            r"[^\n]*\S[^\n]*(?:\n|\Z))*)",
            r"[^\n]*(?:\n|\Z))*)",
            "test_what_follows_the_pinned_list_is_not_pinned",
        ),
        (
            "Only changed lines of MEMORY.md are read for rules.",
            'for line in memory.split("\\n") if line not in lines)',
            'for line in memory.split("\\n"))',
            "test_only_changed_lines_are_read_for_rules_that_a_new_memory_may_have_dropped",
        ),
    ),
    *mutants_of(
        "workers/consolidation/audit/pinned_statements.py",
        "integration/test_audits.py",
        (
            "A pinned line that a summary drops without a reason is pinned again.",
            "list(dict.fromkeys([*asked, *rules]))",
            "rules",
            "test_a_line_that_a_person_deleted_is_never_pinned_again_and_one_that_he_added_stays",
        ),
        (
            "A rule that an earlier summary kept is pinned when a later one drops it.",
            "list(dict.fromkeys([*asked, *rules]))",
            "asked",
            "test_a_rule_that_a_later_summary_drops_is_pinned",
        ),
    ),
    *mutants_of(
        "workers/consolidation/audit/auditor.py",
        "integration/test_audits.py",
        (
            "A pinned line of a person that was merged outlasts later summaries.",
            ", *merged_lines(opened, memory)]",
            "]",
            "test_a_pinned_line_of_a_person_that_was_merged_outlasts_later_summaries",
        ),
        (
            "A request that was merged into other text outlasts later summaries.",
            ", *_held(self._earlier, before)]",
            "]",
            "test_a_request_that_was_merged_without_its_trigger_word_outlasts_all_later_summaries",
        ),
        (
            "A request that a person deleted is not pinned again.",
            "if each.text and texts.hold_statement(each.text)]",
            "if each.text]",
            "test_a_request_that_a_person_deleted_or_a_summary_dropped_for_a_reason_is_kept_no_longer",
        ),
        (
            "A summary may say why a pinned line goes.",
            "earlier = [] if update.reason else [",
            "earlier = [",
            "test_a_later_summary_may_merge_a_pinned_line_or_say_why_it_goes",
        ),
        (
            "An item that nothing was searched for is not in the archive alone.",
            'return "" if found is None else',
            'return "archive" if found is None else',
            "test_a_failing_search_leaves_items_unsearched",
        ),
        (
            "A range that no model summarized has its rules pinned.",
            "new = changed if update or pinned else None",
            "new = changed if update else None",
            "test_a_range_that_no_model_summarized_has_its_rules_pinned",
        ),
    ),
    *mutants_of(
        "workers/consolidation/audit/pinned_statements.py",
        "integration/test_audits.py",
        (
            "A request that could not be read is passed on to the next audit.",
            'return Request(place=place, text="")',
            "return None",
            "test_a_request_that_cannot_be_read_back_is_passed_on",
        ),
    ),
    *mutants_of(
        "workers/consolidation/summary/quiz.py",
        "integration/test_quiz.py",
        (
            "Each question needs its own answer.",
            "if len(found) != len(asked):",
            "if not found:",
            "test_a_model_that_fails_or_answers_with_junk_gives_no_quiz_and_harms_no_consolidation",
        ),
        (
            "A quiz is paid for within the limits of a day.",
            "quiz.calls = self.calls.paid_by(payer)",
            "quiz.calls = self.calls",
            "test_a_quiz_is_paid_for_within_the_limits_of_a_day",
        ),
        (
            "A model that answers questions does not see the right answers.",
            "await self._answers([each.question for each in questions]",
            "await self._answers([f'{each.question} {each.answer}\\n' for each in questions]",
            "test_a_quiz_asks_about_the_messages_and_is_answered_from_what_is_left",
        ),
    ),
    *mutants_of(
        "workers/consolidation/audit/range_auditor.py",
        "integration/test_quiz.py",
        (
            "A consolidation that somebody waits for has no quiz.",
            "if kit.quiz and part and not self.want.awaited else None",
            "if kit.quiz and part else None",
            "test_there_is_no_quiz_if_it_is_switched_off_or_somebody_waits",
        ),
        (
            "A quiz gives way to a turn that waits.",
            "await unless_wanted(self.stores.locks, lock, partial(quiz.score, said, left, used))",
            "await quiz.score(said, left, used)",
            "test_a_quiz_gives_way_to_a_turn_that_waits",
        ),
        (
            "A bug in a quiz fails no consolidation.",
            "except Exception as error:  # noqa: BLE001 - a bug in the quiz",
            "except ValueError as error:  # noqa: BLE001 - a bug in the quiz",
            "test_a_model_that_fails_or_answers_with_junk_gives_no_quiz_and_harms_no_consolidation",
        ),
    ),
    *mutants_of(
        "workers/consolidation/range_consolidation.py",
        "integration/test_audits.py",
        (
            "A pinned line outlasts a summary that is made up for later.",
            "if update and (auditor := await self._auditing.auditor(lock, opened, None)):",
            "if update and not (auditor := await self._auditing.auditor(lock, opened, None)):",
            "test_a_pinned_line_outlasts_the_summary_of_an_earlier_outage",
        ),
    ),
    *mutants_of(
        "daemon/recall/lost_items.py",
        "integration/test_audits.py",
        (
            "An audit has no words of a message that was forgotten.",
            'said.text[begin:end] if said and said.text != FORGOTTEN and end <= len(said.text) else ""',
            'said.text[begin:end] if said else ""',
            "test_forgetting_a_message_forgets_the_words_of_its_audit_and_its_pinned_line",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/system_prompt.py",
        "unit/test_sections.py",
        (
            "A bot is told only of its own tools.",
            'message_rule=if_any(("message",), "identity_message_rule"),',
            'message_rule=say("identity_message_rule", language),',
            "test_identity_mentions_only_tools_that_the_bot_has",
        ),
        (
            "A bot that cannot read files is shown no list of skills.",
            'if lists_skills else ""',
            "",
            "test_skills_are_listed_only_for_a_bot_that_can_read_their_files",
        ),
    ),
)

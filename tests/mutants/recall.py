"""Mutants of what a prompt recalls."""

from tests.mutants.mutant import mutants_of

_INDEXED = "test_archived_messages_are_searched_in_the_search_index_if_it_contains_all_of_their_session"

MUTANTS = (
    *mutants_of(
        "workers/agent/prompt/prompt_builder.py",
        "unit/test_context.py",
        (
            "A prompt that was shortened is put together again with more room.",
            "fits=not squeezes,",
            "fits=True,",
            "test_a_message_that_recall_need_not_find_stands_whole_in_the_prompt",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/history_loader.py",
        "unit/test_context.py",
        (
            "Recall may find the messages that did not fit into the prompt.",
            "first = spans[0].first if spans else len(history)",
            "first = 0",
            "test_recall_is_told_which_messages_the_prompt_does_not_show_whole",
        ),
        (
            "Recall may find the rest of a tool result that is cut in the prompt.",
            "hidden = {at for at in cut",
            "hidden = {at for at in ()",
            "test_recall_is_told_which_messages_the_prompt_does_not_show_whole",
        ),
        (
            "Recall may find the rest of a turn that is shortened in the prompt.",
            "if built.history_tokens - scene.head_tokens < stored_tokens:",
            "if built.history_tokens < scene.head_tokens:",
            "test_recall_is_told_which_messages_the_prompt_does_not_show_whole",
        ),
    ),
    *mutants_of(
        "workers/agent/prompt/turn_requests.py",
        "integration/test_recall_turns.py",
        (
            "A turn searches again when a later call shows less.",
            "if recall and self._recalled_beside and not self._recalled_beside.covers(shows):",
            "if recall and self._recalled_beside is None:",
            "test_messages_that_a_later_call_of_the_turn_does_not_show_are_looked_for_again",
        ),
        (
            "A prompt without anything recalled is not put together again.",
            "if built and built.fits and not self._recalled:",
            "if False:",
            "test_a_prompt_is_put_together_again_only_if_something_was_recalled",
        ),
    ),
    *mutants_of(
        "workers/agent/turn_recall.py",
        "integration/test_recall_turns.py",
        (
            "Recall searches the newest messages that the prompt does not show.",
            "first=shown.first,",
            "first=shown.past.first,",
            "test_a_fact_of_45_turns_ago_that_the_prompt_does_not_show_is_found",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/ranking.py",
        "unit/test_recall_ranking.py",
        (
            "A message that a prompt hides in part may be a hit.",
            "AND NOT first {ONE_OF}",
            "AND NOT 0 * first {ONE_OF}",
            "test_what_a_prompt_holds_is_no_hit_and_everything_before_it_or_hidden_in_it_may_be_one",
        ),
        (
            "A search finds other words of the same class.",
            "(*asked.terms, *asked.classes, *name_terms(connection, asked))",
            "(*asked.terms, *name_terms(connection, asked))",
            "test_a_word_of_the_same_class_is_found_behind_the_word_itself",
        ),
    ),
    *mutants_of(
        "daemon/memory/current_memory.py",
        "integration/test_memories.py",
        (
            "A prompt shows the newest MEMORY.md.",
            "if cached is not None and cached[0] == checksum and cached[1].version == int(version):",
            "if cached is not None:",
            "test_a_prompt_fetches_the_text_only_when_it_has_changed",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/indexes.py",
        "integration/test_cli_transcript.py",
        ("A search uses no index from before a deletion.", "found == (forgets,) and ", "", _INDEXED),
        ("A search uses no index that lacks messages.", "fed is not None and fed[0] >= upto", "True", _INDEXED),
    ),
    *mutants_of(
        "daemon/transcripts/transcript_search.py",
        "unit/test_transcript_search.py",
        (
            "No match is skipped because JSON writes it in another form.",
            " or not self._is_plain",
            "",
            "test_calls_results_and_parts_are_looked_at_and_what_is_spoilt_too",
        ),
    ),
    *mutants_of(
        "daemon/config/memory_settings.py",
        "integration/test_recall_turns.py",
        (
            "What is recalled leaves the system message as it is.",
            'place: Literal["system", "user"] = "user"',
            'place: Literal["system", "user"] = "system"',
            "test_what_is_recalled_stands_beside_the_runtime_context_by_default",
        ),
    ),
    *mutants_of(
        "daemon/recall/search_terms.py",
        "unit/test_recall_words.py",
        (
            "Traditional and simplified characters find each other.",
            "    SIMPLIFIED\n",
            "    {}\n",
            "test_what_is_asked_is_found",
        ),
    ),
    *mutants_of(
        "daemon/recall/recall.py",
        "integration/test_recall_turns.py",
        (
            "A trace tells that the search index was incomplete.",
            "            if found.note:",
            "            if False:",
            "test_a_trace_tells_whether_the_search_saw_all_of_the_memory",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/builtin.py",
        "integration/test_recall_index.py",
        (
            "A turn is told that the index is half built.",
            'note = NOT_ALL if self._stepped[index].whole is False else ""',
            'note = ""',
            "test_a_turn_is_told_that_the_index_is_half_built_until_it_is_whole",
        ),
    ),
    *mutants_of(
        "daemon/recall/vectors/vector_engine.py",
        "unit/test_vectors.py",
        (
            "Vectors that do not stand out count only if words found little.",
            "if words.coverage < COVERED and not quick:",
            "if not quick:",
            "test_vectors_that_do_not_stand_out_count_only_if_words_found_little",
        ),
    ),
    *mutants_of(
        "daemon/recall/vectors/embedder_choice.py",
        "unit/test_vectors_sentences.py",
        (
            "The sentence encoder comes before wordllama.",
            "return _sentences() if not missing_of(SENTENCES_NEED) else",
            "return",
            "test_it_comes_before_wordllama_where_no_server_is_configured",
        ),
    ),
    *mutants_of(
        "daemon/recall/reranking.py",
        "integration/test_reranking.py",
        (
            "A reranker that fails costs only the order.",
            "            self._pause(error)",
            "            raise",
            "test_a_server_that_fails_costs_only_the_order_and_is_called_again_after_a_pause",
        ),
        (
            "A reranker that fails is not called for a while.",
            "or anyio.current_time() < self._paused_until",
            "",
            "test_a_server_that_fails_costs_only_the_order_and_is_called_again_after_a_pause",
        ),
        (
            "A search by words calls no reranker.",
            'if mode == "search" or is_resting',
            "if is_resting",
            "test_a_search_by_words_calls_no_server",
        ),
        (
            "The score of a hit is at least that of the hits below it.",
            "        best = max(best, hits[at].score)",
            "        best = hits[at].score",
            "test_scores_fall_and_are_never_less_than_those_of_the_search",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/passages.py",
        "unit/test_recall_passages.py",
        (
            "A turn shows more text beside a hit than a search.",
            "most = TURN_SNIPPET_CHARS if prompt else SNIPPET_CHARS",
            "most = SNIPPET_CHARS",
            "test_a_turn_shows_more_text_beside_a_hit_than_a_search",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/ranking.py",
        "unit/test_recall_names.py",
        (
            "A name in pinyin finds the name in Chinese characters.",
            "for term in _in_characters(connection, name)]",
            "for term in ()]",
            "test_a_name_finds_the_same_name_in_the_other_script",
        ),
        (
            "A name in Chinese characters finds the name in pinyin.",
            "            found += name",
            "            found += ()",
            "test_a_name_finds_the_same_name_in_the_other_script",
        ),
    ),
    *mutants_of(
        "daemon/recall/evidence.py",
        "unit/test_recall_evidence.py",
        (
            "A repeated question is no evidence.",
            "return 0.0 if self._asks and len",
            "return 1.0 if self._asks and len",
            "test_an_earlier_question_and_its_empty_answer_do_not_displace_the_statement",
        ),
        (
            "An empty answer is no evidence.",
            'return "asks" if has_question else "empty"',
            'return "states"',
            "test_an_earlier_question_and_its_empty_answer_do_not_displace_the_statement",
        ),
        (
            "A question counts less than a statement.",
            "QUESTION_WORTH = 0.35",
            "QUESTION_WORTH = 1.0",
            "test_a_question_counts_less_than_a_statement_with_the_same_words",
        ),
        (
            "A statement that contrasts is no empty answer.",
            "and not _but(plain)",
            "",
            "test_an_answer_is_empty_if_it_only_says_that_nothing_is_known",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/scoring.py",
        "unit/test_recall_evidence.py",
        (
            "The answer to a repeated question is found.",
            "near.speaker != chunk.speaker and chunk.worth == 1",
            "False",
            "test_the_answer_to_an_earlier_question_is_found_without_words_of_the_question",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/scoring.py",
        "unit/test_recall_ranking.py",
        (
            "The shortest message of a day does not represent it.",
            "about * (min(1.0, length) if information is None else information)",
            "about",
            "test_of_a_day_that_is_named_an_informative_message_comes_before_a_greeting",
        ),
        (
            "A neighbor lifts no message above itself.",
            "score = min(share * beside, beside - own)",
            "score = share * beside",
            "test_talk_beside_a_good_hit_does_not_come_before_the_hit",
        ),
        (
            "A message is found by the day of which it speaks.",
            "return names_any(text, said, self._dates)",
            "return False",
            "test_a_message_about_yesterday_is_found_by_the_day_of_which_it_speaks",
        ),
        (
            "A message of the named day may stand beside a hit without a word of the question.",
            " or _is_within(chunk.time, self._short)",
            "",
            "test_a_message_of_the_named_day_that_has_no_word_of_the_question_is_found_beside_a_hit",
        ),
        (
            "The messages of a named day are found without words of the question.",
            "if self._short and self._needs_days(limit, min_score, weights, mean):",
            "if False:",
            "test_a_question_that_names_only_days_finds_what_says_most_of_them",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/ranking.py",
        "unit/test_recall_ranking.py",
        (
            "Days beside an event are counted from the day of the event.",
            "ranges_of_days([asked.event.days(day)], asked.now)",
            "ranges_of_days([(day, day)], asked.now)",
            "test_a_question_that_names_only_days_finds_what_says_most_of_them",
        ),
        (
            "An event that nothing mentions has no day.",
            "if not time or len(shared) < EVENT_SHARE * len(event.terms):",
            "if not time:",
            "test_days_beside_an_event_that_nobody_mentioned_are_no_days",
        ),
        (
            "Messages of a named day are read before others with the same words.",
            "counted[row] *= DATED",
            "counted[row] *= 1",
            "test_messages_of_a_named_day_are_read_before_the_many_of_the_days_behind_it",
        ),
    ),
    *mutants_of(
        "daemon/recall/period_parts.py",
        "unit/test_recall_dates.py",
        (
            "The last weekday of a month is counted from the end of the month.",
            "begins = span.last + DAY if number < 0 else span.first",
            "begins = span.first",
            "test_a_weekday_of_a_month_is_counted_from_its_first_or_last_day",
        ),
    ),
    *mutants_of(
        "daemon/recall/periods.py",
        "unit/test_recall_dates.py",
        (
            "Since a month begins with the month.",
            "return replace(span, last=max(span.last, today))",
            "return replace(span, first=span.last, last=max(span.last, today))",
            "test_since_a_month_means_from_its_first_day_until_today",
        ),
        (
            "After a month does not contain the month.",
            "first=span.last + DAY, last=max(span.last + DAY, today)",
            "first=span.first, last=max(span.last + DAY, today)",
            "test_after_a_month_means_from_the_day_behind_it_until_today",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/scoring.py",
        "unit/test_recall_ranking.py",
        (
            "A Chinese phrase is no more than its words.",
            "return weight * (SIGN_SHARE if len(term) == 1 else PAIR_SHARE)",
            "return weight",
            "test_a_rare_name_is_worth_more_than_a_common_phrase_of_chinese_characters",
        ),
    ),
    *mutants_of(
        "daemon/recall/recall.py",
        "unit/test_recall.py",
        (
            "A turn leaves out a hit whose text a better hit shows.",
            "if hit.shown_by not in found:",
            "if True:",
            "test_a_hit_whose_text_a_better_recalled_hit_shows_is_left_out",
        ),
        (
            "More hits take no more room than as many long ones as the configuration says.",
            "if len(hit.snippet) <= room:",
            "if True:",
            "test_more_hits_than_the_configuration_says_take_no_more_room_than_so_many_long_ones",
        ),
        (
            "A turn recalls more short hits.",
            "SHORT = 3",
            "SHORT = 2",
            "test_no_more_than_three_times_as_many_hits_are_shown_as_the_configuration_says",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/passages.py",
        "unit/test_recall_passages.py",
        (
            "Only the first hits of a turn are shown with text beside them.",
            "is_wide = prompt is None or len(found) < WIDE_MAX",
            "is_wide = True",
            "test_only_the_first_hits_of_a_turn_are_shown_with_text_beside_them",
        ),
        (
            "A hit of which only a part of the message is shown is not left out.",
            'if _is_whole(near, row, shown) else ""',
            "",
            "test_a_turn_is_told_which_hit_shows_the_text_of_another_unless_only_a_part_of_the_message_is_shown",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/ranking.py",
        "unit/test_recall_ranking.py",
        (
            "The words of results find further rows.",
            "if count > 1}",
            "if count > 9}",
            "test_the_words_of_a_few_results_find_further_ones_which_come_last",
        ),
        (
            "A row that the words of results find comes behind the results.",
            "most = min(SHARE * found[0][1], found[-1][1])",
            "most = 1.0",
            "test_the_words_of_a_few_results_find_further_ones_which_come_last",
        ),
    ),
    *mutants_of(
        "daemon/recall/index/scoring.py",
        "unit/test_recall_ranking.py",
        (
            "A question about the first time finds the oldest of similar messages.",
            "_oldest_first(found) if self._asks_for_first else found",
            "found",
            "test_a_question_about_the_first_time_finds_the_oldest_of_similar_messages_first",
        ),
        (
            "A question about the first time does not prefer an old message with few words of the question.",
            "FIRST_SHARE = 0.8",
            "FIRST_SHARE = 0.0",
            "test_a_question_about_the_first_time_finds_the_oldest_of_similar_messages_first",
        ),
    ),
)

"""Mutants of conversations in lists: titles, pins, archives, deletions, search, and whose memory they share."""

from tests.mutants.mutant import mutants_of

_TESTS = "integration/test_web_conversations.py"
_ONE = "test_all_conversations_of_an_operator_share_one_memory"
_NAMED = "test_a_link_names_the_person_who_logs_in"
_OLDER = "test_an_older_conversation_keeps_its_memory_until_it_is_joined"
_PAGES = "test_a_list_is_read_page_by_page_with_pinned_sessions_first"
_LINE = "test_a_line_has_a_title_and_the_last_message"
_LABELS = "test_a_session_is_renamed_pinned_and_archived"
_DELETED = "test_a_deleted_session_is_forgotten_with_its_labels"
_WAITING = "test_waiting_messages_are_listed_with_the_reason"
_BRANCHES = "integration/test_session_branch.py"
_GOES_ON = "test_a_branch_goes_on_where_its_turn_ended"
_TITLES = "integration/test_titles.py"

MUTANTS = (
    *mutants_of(
        "channels/web/message_endpoints.py",
        _TESTS,
        (
            "All browsers of an operator are one person.",
            "return key.chat if owner == own else operator.person",
            "return key.chat",
            _ONE,
        ),
        (
            "In an older conversation, an operator writes as its person.",
            "return key.chat if owner == own else operator.person",
            "return operator.person",
            _OLDER,
        ),
    ),
    *mutants_of(
        "daemon/transcripts/session_branch.py",
        _BRANCHES,
        (
            "A branch contains its last turn as a whole.",
            "return turn, index + 1",
            "return turn, turn + 1",
            _GOES_ON,
        ),
        (
            "A branch is not consolidated from its first message on.",
            "cursor, start, fields = state.cursor, state.start,",
            "cursor, start, fields = 0, state.start,",
            _GOES_ON,
        ),
        (
            "Messages behind the end of a branch are not in its memory.",
            "if each.upto <= turn), default",
            "), default",
            _GOES_ON,
        ),
        (
            "A branch from before /new begins before it.",
            "start = start if start <= turn else 0",
            "pass",
            "test_a_branch_from_before_a_new_beginning_has_the_messages_before_it",
        ),
    ),
    *mutants_of(
        "daemon/transcripts/session_restore.py",
        _BRANCHES,
        (
            "The memory of a branch begins at its cursor.",
            "if source.scope and cursor:",
            "if source.scope and source.first:",
            "test_a_branch_leaves_out_of_the_memory_what_is_in_it_already",
        ),
    ),
    *mutants_of(
        "daemon/operators/login_codes.py",
        _TESTS,
        (
            "The person of a link is the person of the browser.",
            'channel, _, person = whose.decode().partition("\\n")',
            'channel, person = whose.decode().partition("\\n")[0], ""',
            _NAMED,
        ),
    ),
    *mutants_of(
        "daemon/people/operator_identity.py",
        "integration/test_web_members.py",
        (
            "A session named after an operator gives a member no rights.",
            "sender == OPERATOR\n",
            "False\n",
            "test_a_session_gives_a_member_no_rights_of_another_person",
        ),
    ),
    *mutants_of(
        "daemon/session/session_reader.py",
        _TESTS,
        (
            "Sessions of the same time are on one page each.",
            "if before is None or (ms, name) < before",
            "if before is None or ms < before[0]",
            _PAGES,
        ),
    ),
    *mutants_of(
        "channels/web/session/session_list.py",
        _TESTS,
        (
            "A pinned session stands in the list once.",
            "is_there = self.archived or not label.pinned_ms",
            "is_there = True",
            _PAGES,
        ),
        (
            "An archived session is not in the list.",
            "return is_there and bool(label.archived_ms) == self.archived and self.fits(session, label)",
            "return is_there and self.fits(session, label)",
            _PAGES,
        ),
    ),
    *mutants_of(
        "channels/web/session/session_list.py",
        _TESTS,
        (
            "A session that waits for its first answer has a title.",
            'first, role = pending[0].text if pending else "", "user"',
            'first, role = "", "user"',
            _LINE,
        ),
    ),
    *mutants_of(
        "daemon/session/session_labels.py",
        _TESTS,
        (
            "An empty title removes the title.",
            "        if value:\n",
            "        if True:\n",
            _LABELS,
        ),
    ),
    *mutants_of(
        "daemon/session/session_labels.py",
        _TITLES,
        (
            "A title that a person gave stays.",
            'await self._bus.call("HSETNX", self._bus.keys.labels',
            'await self._bus.call("HSET", self._bus.keys.labels',
            "test_a_title_that_a_person_gave_stays",
        ),
    ),
    *mutants_of(
        "daemon/forget/log_removal.py",
        _TESTS,
        (
            "A forgotten session loses its labels.",
            "    await SessionLabels(bus).remove(session)\n",
            "",
            _DELETED,
        ),
    ),
    *mutants_of(
        "daemon/forget/log_removal.py",
        _TESTS,
        (
            "A title is a place where forgotten words can stand.",
            '        work.found("titles", hits)\n',
            "        pass\n",
            _DELETED,
        ),
    ),
    *mutants_of(
        "channels/web/session/session_endpoints.py",
        "integration/test_web_sessions.py",
        (
            "Memories beside the newest message are a part of the prompt.",
            "    if beside:\n",
            "    if False:\n",
            "test_memories_beside_the_newest_message_are_a_part_of_the_prompt",
        ),
    ),
    *mutants_of(
        "channels/web/session/session_endpoints.py",
        _TESTS,
        (
            "A parked session says so.",
            'reason: Reason = "parked" if state.parked_why else "backing_off"',
            'reason: Reason = "backing_off"',
            _WAITING,
        ),
    ),
    *mutants_of(
        "daemon/recall/global_search.py",
        "unit/test_recall_ranking.py",
        (
            "Hits with more of the words stand first.",
            "return sum(word in text for word in words) / max(1, len(words)), each.hit.score, each.hit.time",
            "return 0.0, each.hit.score, each.hit.time",
            "test_of_hits_in_all_memories_those_with_more_of_the_words_stand_first_then_the_better_then_the_newer",
        ),
    ),
    *mutants_of(
        "workers/consolidation/session_titles.py",
        _TITLES,
        (
            "A model is asked for a title only if the bot's configuration says so.",
            "if not kit.titles.by_model or not exchange.answered:",
            "if not exchange.answered:",
            "test_a_conversation_is_named_by_a_model_if_one_is_chosen_and_answers",
        ),
    ),
    *mutants_of(
        "workers/consolidation/summary/title_request.py",
        _TITLES,
        (
            "A title is paid for within the limits of the bot.",
            "        titles.calls = self.calls.paid_by(payer)\n",
            "",
            "test_a_conversation_is_named_by_a_model_if_one_is_chosen_and_answers",
        ),
    ),
)

"""Mutants of the web channel: who is let in, by what, and what a browser is told to allow."""

from tests.mutants.mutant import mutants_of

_GUARD_TESTS = "unit/test_web_guard.py"
_TOKEN = 'secrets.compare_digest(given.strip().encode("latin-1"), token.reveal().encode())'
_WRONG = "test_wrong_codes_keep_no_operator_out_and_push_nothing_out_of_the_audit"
_COOKIE = "test_the_cookie_is_kept_from_scripts_and_from_other_sites"
_POLICY = "test_the_policy_of_the_page_allows_only_its_own_files"
_HEADERS = "test_every_answer_has_all_security_headers"
_NEAR_TOKEN = "test_what_is_nearly_the_token_opens_nothing"
_NEAR_HOST = "test_a_name_that_nearly_is_its_own_is_refused"
_OTHER_ORIGIN = "test_a_page_of_another_origin_changes_nothing"
_ONE_TOKEN = "test_of_several_starts_one_makes_the_token_and_all_have_it"
_NO_TWO_TOKENS = "test_no_two_data_directories_have_the_same_token"
_ASK = "test_operators_may_ask_everything_and_members_a_part"
_RIGHTS = "test_only_operators_read_sessions_of_other_channels"
_FOREIGN = _RIGHTS
_PERSON = "test_a_session_gives_a_member_no_rights_of_another_person"
_START = "test_a_start_tells_how_to_send_the_token_and_does_not_show_it"
_CONFLICTS = "test_processes_with_different_tokens_are_told_by_the_log_and_by_the_doctor"
_MACHINES = "test_machines_and_browsers_that_have_no_token"
_RATE = "test_each_client_has_its_own_requests_of_a_minute"
_GIVEN_BACK = "test_requests_of_a_minute_are_given_back_one_by_one"
_PEER = "test_addresses_that_one_client_can_choose_from_are_one_peer"
_FIRST = "test_the_connection_that_has_waited_longest_goes_first"
_IDLE = "test_connections_that_send_or_read_nothing_keep_nobody_out"
_DRIP = "test_no_drip_of_bytes_puts_off_a_deadline"
_READER = "test_a_link_is_shown_where_one_person_reads"

MUTANTS = (
    *mutants_of(
        "channels/web/session/choice_endpoint.py",
        "integration/test_web_choices.py",
        (
            "Only the person who was asked chooses.",
            'choice.who not in ("", sender)',
            "not sender",
            "test_a_question_is_answered_once_by_whoever_may_answer_it",
        ),
        (
            "Whoever may not use the command does not use the question up.",
            "or not may(bot, inbound, inbound.command):",
            "or not bot:",
            "test_a_refused_press_leaves_the_question_to_an_administrator",
        ),
        (
            "A question is answered once.",
            "answer_id(wanted.notice), sender",
            '"", sender',
            "test_a_question_is_answered_once_by_whoever_may_answer_it",
        ),
    ),
    *mutants_of(
        "channels/web/session/approval_endpoints.py",
        "integration/test_web_choices.py",
        (
            "Only an administrator sees the commands that wait.",
            "await self._waiting() if self._may(request) else []",
            "await self._waiting()",
            "test_commands_of_all_conversations_wait_in_one_list_for_an_administrator",
        ),
        (
            "Only an administrator decides about a command.",
            "if not self._may(request):",
            "if not approval_id:",
            "test_commands_of_all_conversations_wait_in_one_list_for_an_administrator",
        ),
        (
            "A command of another conversation is decided in one of the operator's own.",
            "if key.channel == own:",
            "if key:",
            "test_commands_of_all_conversations_wait_in_one_list_for_an_administrator",
        ),
    ),
    *mutants_of(
        "channels/web/static.py",
        _GUARD_TESTS,
        (
            "The page loads nothing that is not named.",
            "default-src 'none'; script",
            "default-src 'self'; script",
            _POLICY,
        ),
        ("The page runs no script of a document.", "script-src 'self';", "script-src 'self' 'unsafe-inline';", _POLICY),
        ("The page has no style of a document.", "style-src 'self';", "style-src 'self' 'unsafe-inline';", _POLICY),
        ("The page shows only its own images.", "img-src 'self' data:;", "img-src *;", _POLICY),
        ("The page talks to nobody else.", "connect-src 'self'; ", "connect-src *; ", _POLICY),
        ("The page has its own manifest.", "manifest-src 'self'; ", "manifest-src *; ", _POLICY),
        ("No text gives the page another base.", "base-uri 'none'; ", "", _POLICY),
        ("No form of the page is sent.", "form-action 'none'; ", "", _POLICY),
        ("The page stands in no other page.", "; frame-ancestors 'none'\"", '"', _POLICY),
        ("No other page holds the page's window.", ', "Cross-Origin-Opener-Policy": "same-origin"}', "}", _POLICY),
    ),
    *mutants_of(
        "channels/web/request_guard.py",
        _GUARD_TESTS,
        ("No browser guesses a type.", '    "X-Content-Type-Options": "nosniff",\n', "", _HEADERS),
        ("No address is told to other sites.", '    "Referrer-Policy": "no-referrer",\n', "", _HEADERS),
        ("An answer of the API loads nothing.", "\"default-src 'none'; frame", '"default-src *; frame', _HEADERS),
        ("An answer of the API stands in no page.", "'none'; frame-ancestors 'none'\"", "'none'\"", _HEADERS),
        ("Other sites read no answer.", '    "Cross-Origin-Resource-Policy": "same-origin",\n', "", _HEADERS),
        ("No answer of the API is kept.", '    "Cache-Control": "no-store",\n', "", _HEADERS),
        ("A server answers to its own names only.", "if host in self._hosts:", "if True:", _NEAR_HOST),
        (
            "A name that ends in one of its own is another one.",
            "if host in self._hosts:",
            "if host.endswith(tuple(self._hosts)):",
            _NEAR_HOST,
        ),
        (
            "A name that begins with one of its own is another one.",
            "if host in self._hosts:",
            "if host.startswith(tuple(self._hosts)):",
            _NEAR_HOST,
        ),
        ("Behind the port of a host nothing stands.", '(:[0-9]*)?")', '.*")', _NEAR_HOST),
        ("A page of another origin changes nothing.", "origin_host(origin) not in self._hosts", "False", _OTHER_ORIGIN),
        ("An empty origin is another one.", "origin is not None and", "origin and", _OTHER_ORIGIN),
        (
            "A page of another origin deletes nothing.",
            'SAFE = frozenset(["GET", "HEAD", "OPTIONS"])',
            'SAFE = frozenset(["GET", "HEAD", "OPTIONS", "DELETE"])',
            _OTHER_ORIGIN,
        ),
        (
            "Only the open paths need no token.",
            'scope["path"] in self._open',
            'scope["path"].startswith(("/livez", "/api/login"))',
            "test_a_path_that_nearly_is_an_open_one_needs_the_token",
        ),
    ),
    *mutants_of(
        "channels/web/access/request_operator.py",
        _GUARD_TESTS,
        ("A token comes as one.", 'right and kind.lower() == "bearer" and', "right and", _NEAR_TOKEN),
        ("An empty token is none.", " and bool(token)", "", "test_an_empty_token_is_none"),
        ("The case of a token counts.", _TOKEN, "given.lower() == token.reveal().lower()", _NEAR_TOKEN),
        ("A longer token is another one.", _TOKEN, "given.strip().startswith(token.reveal())", _NEAR_TOKEN),
        ("The beginning of a token is none.", _TOKEN, "token.reveal().startswith(given.strip())", _NEAR_TOKEN),
        ("The end of a token is none.", _TOKEN, "token.reveal().endswith(given.strip())", _NEAR_TOKEN),
        ("All bytes of a token count.", 'encode("latin-1")', 'encode("ascii", "ignore")', _NEAR_TOKEN),
    ),
    *mutants_of(
        "channels/web/request_params.py",
        _GUARD_TESTS,
        (
            "A type that begins like JSON is another one.",
            'kind != "application/json" or',
            'not kind.startswith("application/json") or',
            "test_a_body_that_is_not_said_to_be_json_is_not_read",
        ),
        (
            "JSON comes in UTF-8.",
            'not in ("", "charset=utf-8")',
            'not in ("", "charset=utf-8", "charset=latin-1")',
            "test_a_body_that_is_not_said_to_be_json_is_not_read",
        ),
    ),
    *mutants_of(
        "channels/web/access/login.py",
        _GUARD_TESTS,
        (
            "Wrong codes are counted from the first of the last ten.",
            "self._wrong[0] + WRONG_S",
            "self._wrong[-1] + WRONG_S",
            "test_wrong_codes_count_for_ten_minutes_each",
        ),
        (
            "Ten wrong codes are let through.",
            "if len(self._wrong) < WRONG_MAX:",
            "if len(self._wrong) < WRONG_MAX - 1:",
            "test_wrong_codes_count_for_ten_minutes_each",
        ),
    ),
    *mutants_of(
        "channels/web/access/login.py",
        "integration/test_web_access.py",
        ("Wrong codes keep no operator out.", "0.0 if secret else self", "self", _WRONG),
        ("Wrong codes push nothing out of the audit.", "        if wait_s:\n", "        if False:\n", _WRONG),
    ),
    *mutants_of(
        "daemon/operators/login_codes.py",
        _GUARD_TESTS,
        (
            "The name of a visitor tells nothing of its secret.",
            "_hash(secret)[:SHORT_CHARS]",
            "secret[:SHORT_CHARS]",
            "test_the_name_of_a_visitor_tells_nothing_of_its_secret",
        ),
    ),
    *mutants_of(
        "channels/web/access/request_operator.py",
        "integration/test_web_access.py",
        (
            "A cookie shows nothing to pages of others.",
            " or not may_be_ours(headers)",
            "",
            "test_a_cookie_shows_nothing_to_pages_that_are_not_ours",
        ),
        (
            "A visitor of another channel is nobody.",
            " or visit.channel != self._name",
            "",
            "test_a_visitor_of_another_channel_is_nobody_here",
        ),
    ),
    *mutants_of(
        "channels/web/request_guard.py",
        "integration/test_web_access.py",
        (
            "A cookie changes nothing for pages of others.",
            "and not self._operators.has_token(headers) and not is_ours(headers)",
            "and False",
            "test_a_cookie_changes_nothing_for_pages_that_are_not_ours",
        ),
        (
            "A cookie lasts longer when its visitor is known for longer.",
            'headers.append("Set-Cookie", operator.renewed)',
            "pass",
            "test_a_visitor_is_known_for_longer_once_half_of_the_time_is_over",
        ),
    ),
    *mutants_of(
        "channels/web/access/browser_headers.py",
        "integration/test_web_access.py",
        ("No script reads the cookie.", " HttpOnly;", "", _COOKIE),
        ("No other site sends the cookie.", " SameSite=Strict;", "", _COOKIE),
        ("No link of another site sends the cookie.", " SameSite=Strict;", " SameSite=Lax;", _COOKIE),
        ("The cookie goes to every path.", " Path=/;", "", _COOKIE),
        (
            "The cookie goes over TLS alone where there is any.",
            '"; Secure" if self.name.startswith(ENCRYPTED) else ""',
            '""',
            "test_behind_tls_the_cookie_never_goes_over_the_open_wire",
        ),
        (
            "Several Millponds of one machine have cookies of their own.",
            'return f"millpond-{port}" if port',
            'return "millpond" if port',
            "test_several_on_one_machine_keep_their_cookies_apart",
        ),
    ),
    *mutants_of(
        "channels/web/access/browser_headers.py",
        "unit/test_web_origin.py",
        (
            "A page of another port of this host is another's.",
            'OURS = frozenset(["same-origin", "none"])',
            'OURS = frozenset(["same-origin", "same-site", "none"])',
            "test_what_the_browser_says_counts_more_than_the_origin",
        ),
        (
            "The port of an origin counts.",
            'if f"{colon}{port}" in DEFAULT_PORTS else',
            "if colon else",
            "test_no_other_page_is",
        ),
        (
            "An origin has a scheme of the web.",
            'scheme in ("http", "https") and authority',
            "authority",
            "test_no_other_page_is",
        ),
    ),
    *mutants_of(
        "daemon/operators/lua/redeem.lua",
        "integration/test_web_access.py",
        (
            "A link logs in once.",
            "redis.call('GETDEL', KEYS[1])",
            "redis.call('GET', KEYS[1])",
            "test_a_link_works_once_even_for_many_at_the_same_time",
        ),
        (
            "A link of another channel logs nobody in.",
            "if string.match(whose, '^[^\\n]*') ~= ARGV[1] then return 0 end\n",
            "",
            "test_a_link_of_another_channel_is_none_and_used_up",
        ),
        (
            "A link that was used logs nobody else in.",
            "return redis.call('EXISTS', KEYS[2])",
            "return 1",
            "test_a_replayed_link_says_how_to_get_a_new_one",
        ),
    ),
    *mutants_of(
        "daemon/operators/lua/visit.lua",
        "integration/test_web_access.py",
        (
            "A visitor is known for longer once half of the time is over.",
            "redis.call('PEXPIRE', KEYS[1], ARGV[1])\n",
            "",
            "test_a_visitor_is_known_for_longer_once_half_of_the_time_is_over",
        ),
        (
            "A visitor is not known for longer before half of the time is over.",
            "* 2 > tonumber",
            "* 1 > tonumber",
            "test_a_visitor_is_known_for_longer_once_half_of_the_time_is_over",
        ),
    ),
    *mutants_of(
        "daemon/operators/login_codes.py",
        "integration/test_web_access.py",
        (
            "A link ends after ten minutes.",
            '"PX", round(CODE_VALID_S * 1000)',
            '"PX", round(CODE_VALID_S * 2000)',
            "test_a_link_that_is_too_old_is_none",
        ),
        (
            "A visitor is known for a month.",
            "[channel, round(VISITOR_VALID_S * 1000)],",
            "[channel, round(VISITOR_VALID_S)],",
            "test_a_visitor_is_known_for_longer_once_half_of_the_time_is_over",
        ),
        (
            "No secret stands in Redis.",
            "return hashlib.sha256(secret.encode()).hexdigest()",
            "return secret",
            "test_what_opens_the_door_is_in_no_log_and_not_in_redis",
        ),
    ),
    *mutants_of(
        "daemon/operators/operator_audit.py",
        "integration/test_web_access.py",
        ("The audit has a largest size.", '"MAXLEN", "~", KEPT, ', "", "test_the_audit_is_bounded"),
    ),
    *mutants_of(
        "daemon/operators/token_file.py",
        "unit/test_api_token.py",
        ("Of several starts one makes the token.", "replace=False", "replace=True", _ONE_TOKEN),
        (
            "The file of the token holds a whole header.",
            "if not text.startswith(HEADER) or secret_problem(secret) or",
            "if secret_problem(secret) or",
            "test_a_file_without_a_token_is_told_and_not_shown",
        ),
        (
            "A token can be sent.",
            "if not text.startswith(HEADER) or secret_problem(secret) or",
            "if not text.startswith(HEADER) or",
            "test_a_file_without_a_token_is_told_and_not_shown",
        ),
        (
            "A file of another user is refused.",
            "if path.stat().st_uid not in (0, os.geteuid(), data_dir.stat().st_uid):",
            "if False:",
            "test_a_file_of_another_user_is_refused_unless_the_folder_is_theirs_too",
        ),
        ("A token has 256 bits.", "TOKEN_BYTES = 32", "TOKEN_BYTES = 16", _NO_TWO_TOKENS),
        (
            "A fingerprint tells nothing of its token.",
            "hashlib.sha256(token.reveal().encode()).hexdigest()",
            "token.reveal()",
            _NO_TWO_TOKENS,
        ),
        (
            "A token that others can read is told.",
            "made=made, warning=found.warning",
            'made=made, warning=""',
            "test_a_file_that_others_can_read_is_told",
        ),
    ),
    *mutants_of(
        "channels/web/service.py",
        "integration/test_web_members.py",
        ("A token of the data directory is used.", "token=local.secret), header", 'token=Secret("")), header', _RIGHTS),
        ("A start without a reader shows no link.", "announce(NO_LINK)", "announce(site.address)", _START),
        ("A new token is announced once.", "if local.made:", "if True:", _START),
        ("Processes with different tokens are logged once.", "if text not in known:", "if True:", _CONFLICTS),
    ),
    *mutants_of(
        "daemon/overview/workers.py",
        "integration/test_web_members.py",
        ("The same token is no conflict.", "tokens.get(each, token) != token", "True", _CONFLICTS),
    ),
    *mutants_of(
        "channels/web/service.py",
        "integration/test_web_members.py",
        ("No token is shown at a start.", "if site.header_file is None:", "if False:", _START),
        ("An open channel is announced without a token.", "if site.config.open:", "if False:", _START),
    ),
    *mutants_of(
        "channels/web/access/request_operator.py",
        "integration/test_web_access.py",
        ("A channel is closed by default.", " or self._is_open or ", " or True or ", _ASK),
        ("An open channel has members.", " or self._is_open or ", " or ", _ASK),
        (
            "Members are admitted.",
            "        if _bears(self._member_token, headers):\n            return True\n",
            "",
            _ASK,
        ),
        ("A member is no operator.", "if _bears(self._token, headers):", "if self.has_token(headers):", _ASK),
        ("Endpoints for operators are for nobody else.", "if await self.of(request.scope) is None:", "if False:", _ASK),
    ),
    *mutants_of(
        "channels/web/rate_limit.py",
        "integration/test_web_members.py",
        ("Members read no other channel.", "is_member(request) and key.channel != channel", "False", _FOREIGN),
        ("A member acts as no other user.", 'owner not in ("", scope)', "False", _PERSON),
        ("A member acts as nobody with linked identities.", " or is_shared or", " or", _PERSON),
        ("A member acts as no administrator.", " or is_admin(bot, inbound):", ":", _PERSON),
    ),
    *mutants_of(
        "channels/web/message_endpoints.py",
        "integration/test_web_members.py",
        ("A member chooses no user.", "message.user is not None and is_member(request)", "False", _PERSON),
        ("A member's sender is checked.", "        if is_member(request):\n", "        if False:\n", _PERSON),
        (
            "Members read messages of their channel.",
            "readable(request, session_in_path",
            "(lambda _r, key, _c: key)(request, session_in_path",
            _FOREIGN,
        ),
    ),
    *mutants_of(
        "channels/web/event_streams.py",
        "integration/test_web_members.py",
        (
            "Members follow sessions of their channel.",
            "readable(request, session_in",
            "(lambda _r, key, _c: key)(request, session_in",
            _FOREIGN,
        ),
    ),
    *mutants_of(
        "channels/web/session/session_list.py",
        "integration/test_web_members.py",
        (
            "Members see a list of their channel.",
            "self._name if is_member(request) else ",
            "",
            "test_members_see_a_list_of_the_sessions_of_their_channel",
        ),
    ),
    *mutants_of(
        "channels/web/request_guard.py",
        "integration/test_web_members.py",
        ("Metrics need a token.", "OPEN | {METRICS} if metrics_open else OPEN", "OPEN | {METRICS}", _MACHINES),
        ("Metrics can be opened.", "OPEN | {METRICS} if metrics_open else OPEN", "OPEN", _MACHINES),
        ("Each client has its own limit.", "self._operators.name_of(scope) or ", "", _RATE),
        (
            "Refused requests are counted.",
            "return self._too_many(scope) or refused",
            "return refused or self._too_many(scope)",
            _RATE,
        ),
        ("Logins are not counted.", ' or scope["path"] in UNCOUNTED', "", _RATE),
        ("The page is not counted.", 'not scope["path"].startswith(COUNTED) or', "", _RATE),
    ),
    *mutants_of(
        "channels/web/rate_limit.py",
        "unit/test_peers.py",
        ("A minute's requests are allowed at once.", "later - now - WINDOW_S", "later - now", _GIVEN_BACK),
        ("Time gives requests back.", "now), now)", "now), 0.0)", _GIVEN_BACK),
        ("Refused requests are not counted.", "spent_until if wait_s else later", "later", _GIVEN_BACK),
        ("A limit of 0 is none.", "if not self.per_minute:", "if self.per_minute < 0:", _GIVEN_BACK),
        (
            "Clients are not remembered without end.",
            "if len(self._spent_until) > CLIENTS_MAX:",
            "if False:",
            "test_a_crowd_of_clients_takes_no_more_memory",
        ),
        (
            "A client that still sends is remembered.",
            "self._spent_until.pop(client, now)",
            "self._spent_until.get(client, now)",
            "test_a_crowd_of_clients_takes_no_more_memory",
        ),
    ),
    *mutants_of(
        "channels/http/server_socket.py",
        "unit/test_peers.py",
        (
            "All addresses of this machine are one peer.",
            "return LOOPBACK if address.is_loopback else str(address)",
            "return str(address)",
            _PEER,
        ),
        ("A network is one peer.", "NETWORK_BITS = 64", "NETWORK_BITS = 128", _PEER),
        ("An address in another form is the same peer.", "if address.ipv4_mapped is not None:", "if False:", _PEER),
        (
            "Connections leave files to the rest of a process.",
            "FILES_SHARE = 0.5",
            "FILES_SHARE = 1.0",
            "test_connections_leave_half_of_the_files_to_the_rest_of_a_process",
        ),
        ("A peer has a limit.", "len(own) > self._per_peer", "False", _FIRST),
        ("All peers together have a limit.", "len(self._peers) > self._total", "False", _FIRST),
        ("The peer with most connections loses one.", "max(self._open.values(), key=len)", "own", _FIRST),
        ("A connection at work is not closed.", "for each in crowd if each.waits)", "for each in crowd)", _FIRST),
        ("A connection that has moved is closed later.", "own[connection] = own.pop(connection)", "pass", _FIRST),
        (
            "A refused connection makes room for the next one.",
            "        self.closed(longest)\n        longest.drop()\n",
            "        self.closed(longest)\n",
            "test_a_connection_is_refused_if_all_others_of_its_peer_are_at_work",
        ),
    ),
    *mutants_of(
        "channels/http/http_server.py",
        "integration/test_serving.py",
        ("Headers have a deadline.", "self._timer = self.loop.call_later(HEADERS_S, self._overdue)", "pass", _DRIP),
        ("A body has a deadline.", "self._timer = self.loop.call_later(REST_S, self._overdue)", "pass", _DRIP),
        (
            "No byte moves a deadline.",
            "if phase == self._phase or self.transport.is_closing():",
            "if self.transport.is_closing():",
            _DRIP,
        ),
        ("A late client is told so.", "elif self._begun and not", "elif False and not", _DRIP),
        ("A client that sent nothing gets no response.", "elif self._begun and not", "elif not", _DRIP),
        (
            "A whole request has no deadline.",
            "        self._cancel_timer()\n        if self._phase",
            "        if self._phase",
            "test_a_request_that_came_whole_has_no_deadline",
        ),
        (
            "A client has to read.",
            'self._unread = self.loop.call_later(UNREAD_S, self._close, "unread")',
            "pass",
            "test_a_client_that_reads_nothing_is_disconnected",
        ),
        (
            "A request in progress is not closed for another.",
            "return is_owing or is_unread or getattr",
            "return True or getattr",
            _IDLE,
        ),
        ("A client that reads nothing makes room for others.", "self._unread is not None or ", "", _IDLE),
        ("A client that waits for no response makes room for others.", " or self.flow.read_paused\n", "\n", _IDLE),
        ("Closed connections are counted.", "metrics.CONNECTIONS.labels(reason).inc()\n", "pass\n", _IDLE),
        (
            "A connection too many is refused.",
            "            self.app = _refuse\n",
            "            pass\n",
            "test_a_connection_too_many_is_told_so",
        ),
    ),
    *mutants_of(
        "daemon/cli/run_command.py",
        "integration/test_cli.py",
        ("No link is shown in a journal.", "if not output.isatty():", "if False:", _READER),
        (
            "No link is shown where a container keeps it.",
            "not os.path.samestat(os.fstat(output.fileno()), first.stat())",
            "True",
            _READER,
        ),
    ),
    *mutants_of(
        "daemon/config/config_rules.py",
        "unit/test_config.py",
        (
            "An open channel is on loopback.",
            "if channel.open and not is_loopback(channel.host):",
            "if False:",
            "test_a_broken_rule_says_which_keys_to_change",
        ),
        (
            "A member token is another one than the token.",
            'if token and key != "token" and token == channel.token:',
            "if False:",
            "test_a_broken_rule_says_which_keys_to_change",
        ),
    ),
    *mutants_of(
        "channels/web/access/request_operator.py",
        "integration/test_completions.py",
        (
            "A completions token opens only the addresses below /v1/.",
            'scope["path"].startswith(COMPLETIONS) and _bears',
            "_bears",
            "test_a_completions_token_opens_nothing_else_and_names_no_other_person",
        ),
    ),
    *mutants_of(
        "channels/web/completions/completion_answer.py",
        "integration/test_completions.py",
        (
            "Of two clients at once, each gets only its own answer.",
            "not state.waiting and all(message.id == accepted.id for message in pending)",
            "not state.waiting",
            "test_of_two_clients_at_once_each_gets_only_the_text_of_its_own_answer",
        ),
        (
            "A stream contains no text of another message's answer.",
            "self._is_next = not state.waiting and all(message.id == accepted.id for message in pending)",
            "self._is_next = True",
            "test_a_stream_contains_no_text_of_the_answer_to_an_earlier_message",
        ),
        (
            "A repeated message gets the answer that exists.",
            'if accepted.status == "duplicate" else None',
            "if False else None",
            "test_a_repeated_idempotency_key_gets_the_same_answer_and_asks_nothing",
        ),
    ),
    *mutants_of(
        "channels/web/completions/completion_endpoints.py",
        "integration/test_completions.py",
        (
            "A client without the rights of operators is no other person.",
            "await check_sender(self._process, inbound)",
            "pass",
            "test_a_completions_token_opens_nothing_else_and_names_no_other_person",
        ),
    ),
    *mutants_of(
        "channels/web/session/session_files.py",
        "integration/test_web_files.py",
        (
            "A file that is no picture is a download.",
            "{'inline' if kind else 'attachment'}",
            "{'inline'}",
            "test_only_pictures_are_shown_by_a_browser",
        ),
    ),
    *mutants_of(
        "channels/web/message_endpoints.py",
        "integration/test_web_files.py",
        (
            "A message has only files that were uploaded for it.",
            'if not all(is_of(file.path, str(key), inbound.id, message.retry_of or "") for file in message.files):',
            "if False:",
            "test_uploads_have_limits_and_a_message_has_only_its_own_files",
        ),
    ),
    *mutants_of(
        "daemon/inbox.py",
        "integration/test_web_files.py",
        (
            "A file belongs to the message whose mark is in its name.",
            "any(mark in name for mark in marks)",
            "bool(marks)",
            "test_uploads_have_limits_and_a_message_has_only_its_own_files",
        ),
    ),
    *mutants_of(
        "daemon/config/config_loader.py",
        "unit/test_config.py",
        (
            "An open channel is a warning.",
            "and channel.enabled and channel.open:",
            "and False:",
            "test_an_open_web_channel_is_a_warning_as_long_as_it_is_enabled",
        ),
    ),
    *mutants_of(
        "channels/web/session/reminder_endpoints.py",
        "integration/test_web_reminders.py",
        (
            "A request that is repeated sets no second reminder.",
            "name = body.id or secrets.token_hex(8)",
            "name = secrets.token_hex(8)",
            "test_an_operator_adds_and_changes_a_reminder_and_a_repeated_request_adds_none",
        ),
    ),
    *mutants_of(
        "channels/web/completions/completion_request.py",
        "integration/test_completions.py",
        (
            "A picture of another site is not loaded.",
            "if found is None or not content:",
            "if not content and found is not None:",
            "test_a_picture_that_cannot_be_sent_is_refused",
        ),
    ),
)

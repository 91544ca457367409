"""Mutants of the web channel: who is let in, by what, and what a browser is told to allow."""

from tests.mutants.mutant import mutants_of

_GUARD_TESTS = "unit/test_web_guard.py"
_TOKEN = 'secrets.compare_digest(given.strip().encode("latin-1"), self._token.reveal().encode())'
_COOKIE = "test_the_cookie_is_kept_from_scripts_and_from_other_sites"
_POLICY = "test_the_policy_of_the_page_allows_only_its_own_files"
_HEADERS = "test_every_answer_has_all_security_headers"
_NEAR_TOKEN = "test_what_is_nearly_the_token_opens_nothing"
_NEAR_HOST = "test_a_name_that_nearly_is_its_own_is_refused"
_OTHER_ORIGIN = "test_a_page_of_another_origin_changes_nothing"

MUTANTS = (
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
        "channels/web/guard.py",
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
            'scope["path"] in OPEN',
            'scope["path"].startswith(("/livez", "/api/login"))',
            "test_a_path_that_nearly_is_an_open_one_needs_the_token",
        ),
    ),
    *mutants_of(
        "channels/web/access/operators.py",
        _GUARD_TESTS,
        ("A token comes as one.", 'right and kind.lower() == "bearer" and', "right and", _NEAR_TOKEN),
        ("An empty token is none.", " and bool(self._token)", "", "test_an_empty_token_is_none"),
        ("The case of a token counts.", _TOKEN, "given.lower() == self._token.reveal().lower()", _NEAR_TOKEN),
        ("A longer token is another one.", _TOKEN, "given.strip().startswith(self._token.reveal())", _NEAR_TOKEN),
        ("The beginning of a token is none.", _TOKEN, "self._token.reveal().startswith(given.strip())", _NEAR_TOKEN),
        ("The end of a token is none.", _TOKEN, "self._token.reveal().endswith(given.strip())", _NEAR_TOKEN),
        ("All bytes of a token count.", 'encode("latin-1")', 'encode("ascii", "ignore")', _NEAR_TOKEN),
    ),
    *mutants_of(
        "channels/web/body.py",
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
            "test_wrong_codes_count_for_a_minute_each",
        ),
        (
            "Ten wrong codes are let through.",
            "if len(self._wrong) < WRONG_MAX:",
            "if len(self._wrong) < WRONG_MAX - 1:",
            "test_wrong_codes_count_for_a_minute_each",
        ),
    ),
    *mutants_of(
        "daemon/operators/logins.py",
        _GUARD_TESTS,
        (
            "The name of a visitor tells nothing of its secret.",
            "_hash(secret)[:SHORT_CHARS]",
            "secret[:SHORT_CHARS]",
            "test_the_name_of_a_visitor_tells_nothing_of_its_secret",
        ),
    ),
    *mutants_of(
        "channels/web/access/operators.py",
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
        "channels/web/guard.py",
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
        "channels/web/access/cookies.py",
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
        "channels/web/access/origin.py",
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
        "daemon/operators/redeem.lua",
        "integration/test_web_access.py",
        (
            "A link logs in once.",
            "redis.call('GETDEL', KEYS[1])",
            "redis.call('GET', KEYS[1])",
            "test_a_link_works_once_even_for_many_at_the_same_time",
        ),
        (
            "A link of another channel logs nobody in.",
            "if channel ~= ARGV[1] then return 0 end\n",
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
        "daemon/operators/visit.lua",
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
        "daemon/operators/logins.py",
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
        "daemon/operators/audit.py",
        "integration/test_web_access.py",
        ("The audit has a largest size.", '"MAXLEN", "~", KEPT, ', "", "test_the_audit_is_bounded"),
    ),
)

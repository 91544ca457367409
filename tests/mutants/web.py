"""Mutants of the web channel: who is let in, by what, and what a browser is told to allow."""

from tests.mutants.mutant import mutants_of

_GUARD_TESTS = "unit/test_web_guard.py"
_TOKEN = 'secrets.compare_digest(given.strip().encode("latin-1"), self._token.reveal().encode())'
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
        (
            "A page of another origin changes nothing.",
            "origin_host(origin) not in self._hosts",
            "False",
            _OTHER_ORIGIN,
        ),
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
)

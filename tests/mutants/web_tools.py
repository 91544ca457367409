"""Mutants of the web tools: what they may connect to, how much they take, and what they keep."""

from tests.mutants.mutant import mutants_of

_PUBLIC = "test_only_addresses_of_the_public_internet_are_public"
_REFUSED = "test_a_page_that_cannot_be_read_is_refused_in_a_sentence"
_BOUNDED = "test_of_a_body_without_end_only_a_bounded_part_is_taken"

MUTANTS = (
    *mutants_of(
        "workers/tools/web/address_check.py",
        "unit/test_web_fetch.py",
        ("An address that stands for an IPv4 address is judged by it.", "if inner is not None:", "if False:", _PUBLIC),
        ("An address of a tunnel is not public.", "if ip.sixtofour or ip.teredo or", "if", _PUBLIC),
        (
            "A host with any address that is not public is refused.",
            "not all(map(is_public, found))",
            "not any(map(is_public, found))",
            "test_a_host_with_one_private_address_among_others_is_refused",
        ),
        ("No credentials are sent.", "if url.userinfo:", "if False:", "test_what_is_no_address_of_a_page_is_refused"),
    ),
    *mutants_of(
        "workers/tools/web/fetch.py",
        "unit/test_web_fetch.py",
        (
            "The checked address is connected to.",
            "direct = url.copy_with(host=address)",
            "direct = url",
            "test_a_name_is_resolved_once_and_the_checked_address_is_connected_to",
        ),
        (
            "A redirect is checked by Millpond, not followed by the library.",
            '"follow_redirects": False}',
            '"follow_redirects": True}',
            _REFUSED,
        ),
        (
            "A body is bounded before decompression.",
            "unpacker.decompress(piece, room)",
            "unpacker.decompress(piece)",
            "test_a_bomb_is_unpacked_no_further_than_the_limit",
        ),
        ("A body is bounded.", "if len(body) > max_bytes or received > max_bytes:", "if False:", _BOUNDED),
        (
            "A page is waited for so long.",
            "anyio.move_on_after(self._config.timeout_s)",
            "anyio.CancelScope()",
            "test_a_server_that_says_nothing_is_given_up",
        ),
    ),
    *mutants_of(
        "workers/tools/web/web_access.py",
        "integration/test_web_tools.py",
        (
            "A person makes only so many calls a minute.",
            "await self._take(call)\n            fetcher",
            "fetcher",
            "test_a_person_makes_only_so_many_calls_a_minute_over_all_workers",
        ),
        (
            "Robots.txt is obeyed unless the configuration says otherwise.",
            "if self.bot.web.robots else None",
            "if False else None",
            "test_what_robots_txt_forbids_is_fetched_only_by_choice",
        ),
        (
            "A page is fetched once for all workers.",
            "            await self._cache.put(found, *name)\n        return found\n\n    @property",
            "        return found\n\n    @property",
            "test_a_result_is_fetched_once_for_all_workers_and_read_part_by_part",
        ),
    ),
    *mutants_of(
        "workers/tools/web/web_access.py",
        "integration/test_web_tools.py",
        (
            "A bot is not given what another bot may read.",
            "msgspec.json.encode((self._bot, name))",
            "msgspec.json.encode(name)",
            "test_one_bot_is_not_given_the_pages_of_another",
        ),
    ),
    *mutants_of(
        "daemon/forget/side_data_removal.py",
        "integration/test_web_tools.py",
        (
            "Forgetting removes the results of the web tools.",
            ('    """Remove all of it, unless ``work`` only looks. Raises BusUnavailable."""\n    if not work.looks:'),
            '    """Remove all of it, unless ``work`` only looks. Raises BusUnavailable."""\n    if False:',
            "test_forgetting_removes_all_kept_results",
        ),
    ),
)

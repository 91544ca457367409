"""Mutants of channels: leases of their leaders, and what platforms bring."""

from tests.mutants.mutant import mutants_of

_LEADS = "test_a_leaders_lease_counts_from_the_question_at_first_and_at_each_renewal"
_AWAY = "test_a_leader_whose_renewals_fail_is_one_until_its_lease_ends_and_no_longer"

MUTANTS = (
    *mutants_of(
        "channels/leading/lease.py",
        "unit/test_leases.py",
        (
            "A leader's lease counts from the question.",
            "self._held_until = asked_at + terms.lease_s",
            "self._held_until = time.monotonic() + terms.lease_s",
            _LEADS,
        ),
        (
            "A leader renews again and again.",
            'if status != b"held":',
            "if True:",
            _LEADS,
        ),
        ("A renewal takes no lease.", "self._lead(RENEW_ONLY)", "self._lead(self.fence)", _LEADS),
        (
            "A lease outlasts a send only if it lasts as long.",
            "return self._held_until - time.monotonic() >= seconds",
            "return self.left_s > 0",
            _LEADS,
        ),
        ("A renewal that failed is tried again.", "continue  # the bus", "return  # the bus", _AWAY),
        (
            "A lease that was given back is over for its holder at once.",
            "        self._held_until = 0.0\n        with",
            "        with",
            "test_a_lease_that_is_given_back_is_over_at_once_though_the_server_is_away",
        ),
        (
            "A lease is asked for with the fence that was seen.",
            'if status == b"free":',
            "if False:",
            "test_a_lease_under_another_fence_is_asked_for_with_the_fence_that_was_seen",
        ),
    ),
)

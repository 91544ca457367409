"""Mutants of models that stand in for others."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/model/fallback_model.py",
        "integration/test_fallbacks.py",
        (
            "A success ends the rests of a model.",
            "self._failures, self._rests_until = 0, 0.0",
            "pass",
            "test_a_model_that_failed_is_asked_last_for_a_while_and_then_by_one_call_alone",
        ),
        (
            "Two models' words stand in no stream.",
            "                if shown:\n                    raise\n",
            "",
            "test_after_text_was_shown_the_call_fails_and_the_next_one_begins_with_another_model",
        ),
        (
            "A model rests as long as it asked for.",
            "asked_s or REST_S * 2 **",
            "REST_S * 2 **",
            "test_rests_grow_with_each_failure_up_to_a_limit_and_follow_a_rate_limit",
        ),
        (
            "One call finds out whether a model is back.",
            "            self._rest(REST_S)\n",
            "            pass\n",
            "test_a_model_that_failed_is_asked_last_for_a_while_and_then_by_one_call_alone",
        ),
        (
            "The error is that of the first model.",
            "raise failures[self._rungs[0]]",
            "raise list(failures.values())[-1]",
            "test_when_none_answers_the_error_is_that_of_the_first",
        ),
        (
            "A prompt goes to no model that it does not fit.",
            "if rung.fits(request))",
            "if True)",
            "test_a_fallback_is_passed_over_when_the_prompt_does_not_fit_it",
        ),
        (
            "An answer is no longer than its model's window allows.",
            "min(request.max_completion_tokens, request.room * self._config.completion_tokens)",
            "request.max_completion_tokens",
            "test_a_fallback_is_passed_over_when_the_prompt_does_not_fit_it",
        ),
        (
            "A model that failed lately is asked last.",
            "return sorted(asked, key=lambda rung: rung.rests)",
            "return asked",
            "test_after_text_was_shown_the_call_fails_and_the_next_one_begins_with_another_model",
        ),
    ),
)

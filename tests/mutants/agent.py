"""Mutants of turns: the loop of model and tools, and what is on record of it."""

from tests.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        rule="Tool calls are on record before any of them starts.",
        file="workers/agent/tool_loop.py",
        old="await self._record(await self._turn.entries.calls(answer))",
        new="self._progress.entries.append(await self._turn.entries.calls(answer))",
        caught_by="integration/test_tools.py::test_calls_are_on_record_before_any_of_them_starts",
    ),
    Mutant(
        rule="A call that may have run does not run again unless its tool is repeatable.",
        file="workers/agent/tool_loop.py",
        old="if call in interrupted and not self._kit.tools.repeatable(call.name):",
        new="if False:",
        caught_by="integration/test_turns.py::test_a_call_cut_off_by_a_crash_runs_again_only_if_its_tool_is_repeatable",
    ),
    Mutant(
        rule="A stop may delay the record of a result, never lose it.",
        file="workers/agent/tool_loop.py",
        old="with anyio.fail_after(RECORD_TIMEOUT_S, shield=True):",
        new="with anyio.fail_after(RECORD_TIMEOUT_S):",
        caught_by="integration/test_tools.py::test_a_result_that_was_there_when_the_turn_was_stopped_is_on_record",
    ),
)

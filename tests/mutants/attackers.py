"""Mutants that let one of the four attackers in."""

from tests.mutants.mutant import Mutant

_CAUGHT_BY = "faults/test_attackers.py::test_no_attacker_sees_or_changes_anything_of_others"

MUTANTS = tuple(
    Mutant(rule=rule, file=file, old=old, new=new, caught_by=f"{_CAUGHT_BY}[{attacker}]")
    for attacker, rule, file, old, new in (
        (
            "a stranger",
            "A stranger is given a code and no answer.",
            "daemon/access/access_list.py",
            'return "code" if',
            'return "heard" if',
        ),
        (
            "a group member",
            "Only administrators give the commands of administrators.",
            "workers/agent/commands/admin_commands.py",
            "if not is_admin(bot, inbound):",
            "if is_admin(bot, inbound) is None:",
        ),
        (
            "a local user",
            "The embedded server asks for its password.",
            "daemon/server/launch.py",
            '"requirepass": state.password',
            '"requirepass": ""',
        ),
        (
            "an injected model",
            "The tool `message` speaks in chats of its own scope alone.",
            "workers/agent/outgoing_messages.py",
            '            return scope\n        return ""',
            "            return scope\n        return scope",
        ),
    )
)

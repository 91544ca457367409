"""Contains the ``millpond`` command, with one file for each group of subcommands.

Public: ``main`` runs the command.
Begin with ``root_command`` and ``command_setup``. The command ``millpond X`` is in ``X_command``. Heavy imports happen
in a command.
"""

import atexit
import gc
import os

from daemon.cli.channel_command import channel
from daemon.cli.chat_command import chat, send
from daemon.cli.config_command import config
from daemon.cli.data_command import data
from daemon.cli.doctor.doctor_command import doctor
from daemon.cli.export_command import export
from daemon.cli.forget_command import forget_memory, forget_person, forget_session
from daemon.cli.generate_command import generate
from daemon.cli.init_command import init
from daemon.cli.memory_command import memory
from daemon.cli.memory_search_command import audit_memory, search_memory
from daemon.cli.page_command import page
from daemon.cli.person_command import person
from daemon.cli.queue_command import dead, jobs, queue
from daemon.cli.redis_command import redis_acl, redis_cli
from daemon.cli.reminder_command import reminder
from daemon.cli.root_command import root
from daemon.cli.run_command import run
from daemon.cli.session_command import rename_session, session
from daemon.cli.trace_command import trace
from daemon.cli.transcript_command import transcript
from daemon.cli.usage_command import usage, version, worker

__all__ = ["main"]

for _command in (
    init,
    run,
    page,
    chat,
    send,
    session,
    memory,
    channel,
    person,
    reminder,
    transcript,
    trace,
    queue,
    worker,
    usage,
    data,
    config,
    redis_cli,
    redis_acl,
    doctor,
    version,
):
    root.add_command(_command)
queue.add_command(dead)
queue.add_command(jobs)
session.add_command(generate)
session.add_command(export)
session.add_command(forget_session)
session.add_command(rename_session)
memory.add_command(search_memory)
memory.add_command(audit_memory)
memory.add_command(forget_memory)
person.add_command(forget_person)


PRIVATE = 0o077
"""Umask: other users get no access to files of a command, because these contain conversations or their names."""


COLLECT_AFTER = 100_000
"""New objects after which the garbage collector looks at them. Imports create many objects and no garbage: at Python's
700, the collector takes a tenth of the CPU time of a short command."""


def main() -> None:
    """Run the command that the process's arguments name; does not return."""
    os.umask(PRIVATE)
    gc.set_threshold(COLLECT_AFTER)
    # As it ends, Python looks for garbage among all objects several times: a quarter of the CPU time of a short command.
    atexit.register(gc.freeze)
    root(prog_name="millpond")

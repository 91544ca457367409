"""The ``millpond`` command: one file for each group of commands. Their imports happen when a command runs."""

import os

from daemon.cli.audits import audit_memory
from daemon.cli.channel import channel
from daemon.cli.chat import chat
from daemon.cli.command import root
from daemon.cli.config_command import config
from daemon.cli.data import data
from daemon.cli.dead import dead
from daemon.cli.doctor import doctor
from daemon.cli.exporting import export
from daemon.cli.forget import forget_memory, forget_person, forget_session
from daemon.cli.generate import generate
from daemon.cli.init import init
from daemon.cli.jobs import jobs
from daemon.cli.memory import memory
from daemon.cli.naming import rename_session
from daemon.cli.page import page
from daemon.cli.person import person
from daemon.cli.queue import queue
from daemon.cli.recalling import search_memory
from daemon.cli.redis_command import redis_acl, redis_cli
from daemon.cli.reminder import reminder
from daemon.cli.run import run
from daemon.cli.send import send
from daemon.cli.session import session
from daemon.cli.trace import trace
from daemon.cli.transcript import transcript
from daemon.cli.usage import usage
from daemon.cli.version import version
from daemon.cli.worker import worker

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


def main() -> None:
    """Run the command that the process's arguments name; does not return."""
    os.umask(PRIVATE)
    root(prog_name="millpond")

"""Shows and changes sessions over the HTTP API: lists, prompts, timelines, files, approvals and traces.

Public: ``session_routes`` lists the addresses, ``SessionList`` is the list of sessions.
Begin with ``session_endpoints``, and ``timeline`` for search and traces.
"""

from starlette.routing import Route

from channels.web.access import Only
from channels.web.message_endpoints import MessageEndpoints
from channels.web.session.approval_endpoints import ApprovalEndpoints
from channels.web.session.choice_endpoint import ChoiceEndpoint
from channels.web.session.reminder_endpoints import ReminderEndpoints
from channels.web.session.session_endpoints import Branching, PendingEndpoint, PromptEndpoints, SessionEndpoints
from channels.web.session.session_files import SessionFiles
from channels.web.session.session_list import SessionList
from channels.web.session.timeline import Timeline, TraceEndpoints
from channels.web.site import Site

__all__ = ["SessionList", "session_routes"]

OF_SESSION = "/api/sessions/{session:path}"


def session_routes(site: Site, messages: MessageEndpoints, only: Only) -> list[Route]:
    """Addresses about one session, for operators ``only``."""
    reminders = ReminderEndpoints(site)
    filled, timeline, turns, files = (
        PromptEndpoints(site, messages),
        Timeline(site),
        TraceEndpoints(site),
        SessionFiles(site, messages),
    )
    changing, waiting, approvals = SessionEndpoints(site), PendingEndpoint(site), ApprovalEndpoints(site, messages)
    return [
        Route(f"{OF_SESSION}/context", only(filled.context)),
        Route(f"{OF_SESSION}/prompt", only(filled.prompt)),
        Route(f"{OF_SESSION}/timeline", only(timeline.read)),
        Route(f"{OF_SESSION}/search", only(timeline.search)),
        Route(f"{OF_SESSION}/waiting", only(waiting.read)),
        Route(f"{OF_SESSION}/turns", only(turns.turns)),
        Route(f"{OF_SESSION}/turns/{{turn}}", only(turns.turn)),
        Route(f"{OF_SESSION}/reminders", only(reminders.read)),
        Route(f"{OF_SESSION}/reminders", only(reminders.add), methods=["POST"]),
        Route(f"{OF_SESSION}/reminders/{{id}}", only(reminders.change), methods=["PATCH"]),
        Route(f"{OF_SESSION}/reminders/{{id}}", only(reminders.delete), methods=["DELETE"]),
        Route(f"{OF_SESSION}/reminders/{{id}}/pause", only(reminders.pause), methods=["POST"]),
        Route(f"{OF_SESSION}/reminders/{{id}}/resume", only(reminders.resume), methods=["POST"]),
        Route("/api/reminders", only(reminders.all)),
        Route(f"{OF_SESSION}/file", only(files.read)),
        Route(f"{OF_SESSION}/file", only(files.upload), methods=["POST"]),
        Route("/api/trace/{name:path}", only(turns.trace)),
        Route("/api/approvals", only(approvals.read)),
        Route("/api/approvals/{id}", only(approvals.decide), methods=["POST"]),
        Route(f"{OF_SESSION}/choice", only(ChoiceEndpoint(site, messages).choose), methods=["POST"]),
        Route(f"{OF_SESSION}/branch", only(Branching(site).branch), methods=["POST"]),
        Route(f"{OF_SESSION}/join", only(changing.join), methods=["POST"]),
        # Last: the router does not know that the key of a session has no /.
        Route(OF_SESSION, only(changing.read), methods=["GET"]),
        Route(OF_SESSION, only(changing.change), methods=["PATCH"]),
        Route(OF_SESSION, only(changing.delete), methods=["DELETE"]),
    ]

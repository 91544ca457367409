"""Identifies operators and members of the HTTP API, with tokens, login links and cookies.

Public: ``Operators`` finds the ``Operator`` of a request, ``Login`` handles log-in links, ``audited`` records an
action.
Begin with ``request_operator``.
"""

from channels.web.access.login import Login
from channels.web.access.request_operator import Handler, Only, Operator, Operators, audited, unauthorized

__all__ = ["Handler", "Login", "Only", "Operator", "Operators", "audited", "unauthorized"]

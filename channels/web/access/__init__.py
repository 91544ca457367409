"""Operators: clients with the channel's token, or with a cookie from a log-in link."""

from channels.web.access.login import Login
from channels.web.access.request_operator import Handler, Only, Operator, Operators, audited, unauthorized

__all__ = ["Handler", "Login", "Only", "Operator", "Operators", "audited", "unauthorized"]

"""Who is an operator: whoever sends the channel's token, or a cookie that a link to log in was exchanged for."""

from channels.web.access.auditing import audited
from channels.web.access.login import Login
from channels.web.access.operators import Handler, Only, Operator, Operators, unauthorized

__all__ = ["Handler", "Login", "Only", "Operator", "Operators", "audited", "unauthorized"]

"""A page and a JSON API on this machine: posterior serve MODEL."""

from posterior.app.server.limits import Limits
from posterior.app.server.running import serve
from posterior.app.server.server_app import create_app

__all__ = ["Limits", "create_app", "serve"]

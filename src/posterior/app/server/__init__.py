"""A page and a JSON API on this machine: posterior serve MODEL."""

from posterior.app.server.application import create_app
from posterior.app.server.limits import Limits
from posterior.app.server.running import serve

__all__ = ["Limits", "create_app", "serve"]

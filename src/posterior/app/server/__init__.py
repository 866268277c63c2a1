"""A page and a JSON API on this machine: posterior serve MODEL."""

from posterior.app.server.refusals import Limits
from posterior.app.server.server_app import create_app, serve

__all__ = ["Limits", "create_app", "serve"]

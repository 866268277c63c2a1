"""A page and a JSON API on this machine: posterior serve MODEL."""

from posterior.app.server.access import Access, token_in
from posterior.app.server.limits import Limits
from posterior.app.server.server_app import create_app
from posterior.app.server.serving import serve

__all__ = ["Access", "Limits", "create_app", "serve", "token_in"]

"""An MCP server of a Tidemark API: its routes and the analysts' questions as read-only tools."""

from .server import main

__all__ = ["main"]

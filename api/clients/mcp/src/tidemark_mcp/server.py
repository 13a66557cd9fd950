"""The server: lists the tools of the contract, checks the arguments, and answers over stdio."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import mcp.types as types
from jsonschema import Draft202012Validator
from mcp.server import Server
from mcp.server.stdio import stdio_server
from tidemark_client import AsyncClient

from .limits import Limits, Refused
from .routes import ask_route
from .sql import VIEWS, Database

_READ_ONLY = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

_VIEW = {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,62}$", "description": "name of a view; absent: all views"}
_STATEMENT = {"type": "string", "minLength": 1, "maxLength": 16384, "description": "one SELECT over the schema analyst, in PostgreSQL's SQL"}

_SQL_TOOLS: list[dict[str, Any]] = [
    {
        "name": "views", "title": "Views for analysts",
        "description": "What the database's views hold, and with `view` the columns of one, with types and meaning. Read this before a statement of your own.",
        "inputSchema": {"type": "object", "properties": {"view": _VIEW}, "additionalProperties": False},
    },
    {
        "name": "query", "title": "A statement of your own",
        "description": "Runs one SELECT over the views of `views`, read-only and within the limits. Name the deployment:"
        " `WHERE deployment = (SELECT deployment FROM analyst.current_deployment)`, otherwise networks mix."
        " The answer's ledger is the current deployment's; `otherDeployments` has those of the others.",
        "inputSchema": {"type": "object", "properties": {"sql": _STATEMENT}, "required": ["sql"], "additionalProperties": False},
    },
]


class Tools:
    """All tools by name, and the way to each answer. Without a database there are no tools of SQL."""

    def __init__(self, contract: Mapping[str, Any], client: AsyncClient, database: Database | None, limits: Limits) -> None:
        self._client, self._database, self._limits = client, database, limits
        self._routes = {tool["name"]: tool for tool in contract["routes"]}
        self._questions = {tool["name"]: tool for tool in contract["questions"]} if database else {}
        self._others = {tool["name"]: tool for tool in _SQL_TOOLS} if database else {}
        self.by_name = {**self._routes, **self._questions, **self._others}
        self._running = asyncio.Semaphore(limits.calls)

    def listed(self) -> list[types.Tool]:
        return [
            types.Tool(name=tool["name"], title=tool["title"], description=tool["description"], input_schema=tool["inputSchema"], annotations=_READ_ONLY)
            for tool in self.by_name.values()
        ]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        tool = self.by_name.get(name)
        if tool is None:
            raise Refused("unknown_tool", "there is no tool of that name")
        check_arguments(tool["inputSchema"], arguments)
        async with self._running:
            if name in self._routes:
                return await ask_route(self._client, self._limits, tool, arguments)
            return await self._ask_database(name, arguments)

    async def _ask_database(self, name: str, arguments: Mapping[str, Any]) -> str:
        if self._database is None:
            raise Refused("unknown_tool", "there is no database")
        if name in self._questions:
            return await self._database.ask(filled(self._questions[name], arguments))
        if name == "views":
            return await (self._database.columns(arguments["view"]) if "view" in arguments else self._database.ask(VIEWS))
        return await self._database.ask(arguments["sql"])


def filled(question: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """The statement of a question with its parameters, which are integers."""
    text: str = question["sql"]
    for name in question["inputSchema"]["properties"]:
        text = text.replace("{" + name + "}", str(int(arguments[name])))
    return text


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """The tool's schema decides before anything is asked: a misspelt filter must not go unnoticed."""
    faults = sorted(Draft202012Validator(schema).iter_errors(dict(arguments)), key=lambda one: list(map(str, one.path)))
    if faults:
        where = f"{'/'.join(map(str, faults[0].path))}: " if faults[0].path else ""
        raise Refused("invalid_parameter", f"{where}{faults[0].message}"[:500])


def server_of(contract: Mapping[str, Any], tools: Tools) -> Server[Any]:
    async def list_tools(_context: Any, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools.listed())

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            text, failed = await tools.call(params.name, params.arguments or {}), False
        except Refused as refused:
            text, failed = str(refused), True
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server("tidemark", version=version("tidemark-mcp"), title="Tidemark", instructions=contract["instructions"], on_list_tools=list_tools, on_call_tool=call_tool)


async def serve(api_url: str, database_url: str | None, limits: Limits) -> None:
    contract = json.loads(files("tidemark_mcp").joinpath("contract.json").read_text(encoding="utf-8"))
    async with AsyncClient(api_url, timeout=float(limits.seconds)) as client:
        server = server_of(contract, Tools(contract, client, Database(database_url, limits) if database_url else None, limits))
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())


def _number(least: int, most: int) -> Any:
    def read(text: str) -> int:
        value = int(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be from {least} to {most}")
        return value

    return read


def main() -> None:
    parser = argparse.ArgumentParser(prog="tidemark-mcp", description="Serves the routes of a Tidemark API, and the analysts' questions, as read-only MCP tools over stdio.")
    parser.add_argument("--api-url", default=os.environ.get("TIDEMARK_API_URL"), help="address of the API; else TIDEMARK_API_URL")
    parser.add_argument("--database-url", default=os.environ.get("TIDEMARK_MCP_DATABASE_URL"),
                        help="the database, as tidemark_analyst; else TIDEMARK_MCP_DATABASE_URL; absent: no tools of SQL")
    parser.add_argument("--answer-kib", type=_number(8, 1024), default=Limits.answer_kib, help="the largest answer (%(default)s KiB)")
    parser.add_argument("--rows", type=_number(1, 10000), default=Limits.rows, help="the most rows of a statement (%(default)s)")
    parser.add_argument("--seconds", type=_number(1, 60), default=Limits.seconds, help="the longest statement or request (%(default)s s)")
    given = parser.parse_args()
    if not given.api_url:
        parser.error("--api-url or TIDEMARK_API_URL is missing")
    try:
        asyncio.run(serve(given.api_url, given.database_url, Limits(given.answer_kib, given.rows, given.seconds)))
    except ValueError as error:
        sys.exit(f"tidemark-mcp: {error}")
    except KeyboardInterrupt:
        sys.exit(130)

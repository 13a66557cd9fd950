"""Tools that ask the database. Every statement takes one way, with the same bounds:

- a connection of its own, so that a call leaves nothing behind for the next one
- a login that can read the analysts' views and nothing else; any other is refused
- a READ ONLY transaction, a statement timeout, a limit of rows and a limit of bytes
- one SELECT, sent over the extended protocol, which takes one statement at a time
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import Any, cast

import psycopg
from psycopg import sql

from .limits import Limits, Refused, bounded, text_of

COLUMNS = 100  # of an answer: a row is at most so many values of the answer's size
ENVELOPE = 4096  # bytes of an answer beside its rows
CONNECT_SECONDS = 5
DEPLOYMENTS = 8  # that an answer names: the current one, and the newest others

_BOOL, _JSON, _INTEGERS = 16, (114, 3802), (20, 21, 23)
_DIGITS = 19  # an integer of fewer digits has less than 64 bits

# What a login may be: tidemark_analyst, or a member of it that is member of nothing else, read-only by its own settings.
_LOGIN = """
SELECT session_user::text, r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls,
  to_regrole('tidemark_analyst') IS NOT NULL AND pg_has_role(r.oid, to_regrole('tidemark_analyst'), 'MEMBER'),
  EXISTS (SELECT FROM pg_roles AS o WHERE o.oid <> r.oid AND o.rolname <> 'tidemark_analyst' AND pg_has_role(r.oid, o.oid, 'MEMBER')),
  has_database_privilege(r.oid, current_database(), 'CREATE') OR EXISTS (SELECT FROM pg_namespace AS n WHERE has_schema_privilege(r.oid, n.oid, 'CREATE')),
  EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND has_function_privilege(r.oid, p.oid, 'EXECUTE')
    AND p.proname ~ '^(lo_creat|lo_create|lo_from_bytea|lo_put|lo_truncate|lo_truncate64|lowrite|pg_logical_emit_message|pg_current_xact_id|txid_current|pg_terminate_backend|pg_cancel_backend)$')
FROM pg_roles AS r WHERE r.rolname = session_user"""

# The current deployment first. A statement may name any of them.
_DEPLOYMENTS = f"""
SELECT n.deployment, n.network, n.ledger, n.closed_at
FROM analyst.networks AS n LEFT JOIN analyst.current_deployment AS c USING (deployment)
WHERE n.ledger > 0
ORDER BY c.deployment NULLS LAST, n.deployment DESC LIMIT {DEPLOYMENTS}"""


def reason_to_refuse(privileged: bool, analyst: bool, member: bool, creates: bool, writes: bool) -> str:
    """Why a login is not one for these tools, or nothing. PostgreSQL runs some functions that write in READ ONLY transactions too."""
    if privileged:
        return "it is a superuser or may make roles, databases or replicas"
    if not analyst:
        return "it is no member of tidemark_analyst"
    if member:
        return "it is a member of a further role"
    if creates:
        return "it may make tables"
    return "it may write large objects or WAL messages, or end sessions: a superuser runs tools/packaging/database.sql" if writes else ""


class Database:
    """Answers one SELECT at a time for each caller."""

    def __init__(self, url: str, limits: Limits) -> None:
        self._url, self._limits = url, limits

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """A READ ONLY transaction of a login that can do no more than read."""
        async with await psycopg.AsyncConnection.connect(self._url, connect_timeout=CONNECT_SECONDS, application_name="tidemark-mcp") as connection:
            await connection.set_read_only(True)
            await connection.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
            await self._bound(connection)
            row = await (await connection.execute(_LOGIN)).fetchone()
            name, *rights = row or ("?", True, False, True, True, True)
            reason = reason_to_refuse(*rights)
            if reason:
                raise Refused("wrong_role", f"the database login {name} is refused: {reason}. Log in as tidemark_analyst.")
            await connection.rollback()
            await self._bound(connection)
            # The first SELECT takes the snapshot. Without the lock, rows of partitions that are detached later would be missing from it.
            await connection.execute("LOCK TABLE analyst.archived IN ACCESS SHARE MODE")
            try:
                yield connection
            finally:
                await connection.rollback()

    async def _bound(self, connection: psycopg.AsyncConnection[Any]) -> None:
        """Limits the time of the transaction's statements."""
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            await connection.execute(sql.SQL("SET LOCAL {} = {}").format(sql.Identifier(name), sql.Literal(self._limits.seconds * 1000)))

    async def columns(self, view: str) -> str:
        """The columns of a view. A view that does not exist is refused: without columns it would seem to be empty."""
        told = await self.ask(columns_of(view))
        if not json.loads(told)["rows"]:
            raise Refused("unknown_view", f"there is no view {view}: `views` without an argument lists them")
        return told

    async def ask(self, statement: str) -> str:
        """The rows of one SELECT, as of the newest ledger of the index, which the answer names."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS + self._limits.seconds * 2):
                async with self._transaction() as connection:
                    told = await self._ledger(connection)
                    names, types = await self._columns(connection, statement)
                    told["columns"] = names
                    told.update(await self._rows(connection, statement, types))
            return bounded(told, self._limits, "Select fewer columns.")
        except psycopg.errors.QueryCanceled:
            raise Refused("timeout", f"the statement took more than {self._limits.seconds} s. Name a day or a span of ledgers.") from None
        except TimeoutError:
            raise Refused("timeout", "the database does not answer in time") from None
        except psycopg.Error as error:
            said = [error.diag.message_primary or str(error).strip() or type(error).__name__, error.diag.message_hint]
            raise Refused("database", ". ".join(filter(None, said))[:500]) from None

    async def _ledger(self, connection: psycopg.AsyncConnection[Any]) -> dict[str, Any]:
        """Returns the current deployment with its ledger, and the other deployments. Rows of another deployment are true as of that one's ledger."""
        found = [_deployment(*row) for row in await (await connection.execute(_DEPLOYMENTS)).fetchall()]
        if not found:
            raise Refused("empty", "the index has no ledger yet")
        return {**found[0], **({"otherDeployments": found[1:]} if found[1:] else {})}

    async def _columns(self, connection: psycopg.AsyncConnection[Any], statement: str) -> tuple[list[str], list[int]]:
        """Names and types. A cursor takes one SELECT and nothing else, and is not run: so its text can stand between parentheses."""
        cursor = connection.cursor(binary=True)  # binary: the extended protocol, which refuses a second statement
        await cursor.execute("DECLARE tidemark_mcp NO SCROLL CURSOR FOR\n" + statement)
        await cursor.execute("FETCH FORWARD 0 FROM tidemark_mcp")
        described = cursor.description or []
        if not 0 < len(described) <= COLUMNS:
            raise Refused("columns", f"a statement has 1 to {COLUMNS} columns, not {len(described)}")
        await cursor.execute("CLOSE tidemark_mcp")
        return [one.name for one in described], [one.type_code for one in described]

    async def _rows(self, connection: psycopg.AsyncConnection[Any], statement: str, types: list[int]) -> dict[str, Any]:
        """Rows as far as both limits go. PostgreSQL cuts each value to the limit, so no row fills the memory here."""
        most, room = self._limits.rows, self._limits.answer_bytes - ENVELOPE
        values = ", ".join(f"left(c{n}::text, {self._limits.answer_bytes})" for n in range(len(types)))
        wrapped = f"SELECT {values} FROM (\n{statement}\n) AS q({', '.join(f'c{n}' for n in range(len(types)))}) LIMIT {most + 1}"
        rows: list[list[Any]] = []
        complete = True
        stream = cast(AsyncGenerator[tuple[str | None, ...], None], connection.cursor().stream(wrapped))
        async with aclosing(stream) as found:  # closing it cancels the statement
            async for row in found:
                if any(value is not None and len(value) >= self._limits.answer_bytes for value in row):
                    raise Refused("too_large", f"a value has more than {self._limits.answer_kib} KiB")
                values_of_row = [_value(value, kind) for value, kind in zip(row, types, strict=True)]
                room -= len(text_of(values_of_row).encode()) + 1
                if room < 0 and not rows:
                    raise Refused("too_large", f"the first row has more than {self._limits.answer_kib} KiB. Select fewer columns.")
                if room < 0 or len(rows) == most:
                    complete = False
                    break
                rows.append(values_of_row)
        told: dict[str, Any] = {"rows": rows, "complete": complete}
        if not complete:
            told["note"] = f"more rows exist: the limits are {most} rows and {self._limits.answer_kib} KiB. Do not sum these up; let the statement do it."
        return told


def _deployment(deployment: int, network: str, ledger: int, closed_at: object) -> dict[str, Any]:
    closed = closed_at.isoformat().replace("+00:00", "Z") if isinstance(closed_at, datetime) else None
    return {"deployment": deployment, "network": network, "ledger": ledger, "closedAt": closed}


def _value(text: str | None, kind: int) -> Any:
    """Small integers and truth values as JSON has them. Every other number stays exact text."""
    if text is None:
        return None
    if kind in _INTEGERS:
        return int(text)
    if kind == _BOOL:
        return text == "true"
    return _json(text) if kind in _JSON else text


def _json(text: str) -> Any:
    """A value of type json. PostgreSQL takes some that Python cannot read or send: nested deeply, or half of a surrogate pair."""
    try:
        value = json.loads(text, parse_float=str, parse_int=lambda digits: int(digits) if len(digits) < _DIGITS else digits)
        text_of(value).encode()
    except (ValueError, RecursionError):
        raise Refused("unreadable", "a JSON value is nested too deeply or is no Unicode text. Select its parts, or cast it to text.") from None
    return value


VIEWS = """
SELECT c.relname AS view, obj_description(c.oid) AS meaning
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'analyst' AND c.relkind = 'v'
ORDER BY c.relname"""


def columns_of(view: str) -> str:
    """The statement that tells what a view has. The tool's schema lets only names of a view through."""
    name = sql.quote(view)
    return f"""
SELECT a.attname AS "column", format_type(a.atttypid, a.atttypmod) AS type, col_description(c.oid, a.attnum) AS meaning
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = 'analyst' AND c.relkind = 'v' AND c.relname = {name}
ORDER BY a.attnum"""

"""The database, as a role that sees no jurisdiction: which views and event kinds there are, and their rows.

All reads of a `Snapshot` see one state of the database: a read-only transaction with REPEATABLE READ. It also holds
the archive: no partition is detached before it ends, whose rows the snapshot would then miss without a word.
"""
import contextlib
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, NestedField

from columns import ORDERS, Column, columns_of, is_private, quoted

# These tables of events are not copied: they hold all kinds, and the lake has one table for each kind.
NO_KIND = {"log", "raw"}
ORDER = ("ledger", *ORDERS.values(), "change_order")


DatabaseError = adbc.Error


class LakeError(Exception):
    """What a person must mend; its text says how."""


@dataclass(frozen=True)
class Relation:
    """A view of `analyst` or a table of `event`, and the table of the lake that follows from it."""
    schema: str
    name: str
    columns: tuple[Column, ...]
    is_log: bool  # rows belong to ledgers and do not change; otherwise the present state

    @property
    def title(self) -> str:
        return f"{self.schema}.{self.name}"

    def select(self, condition: str = "") -> str:
        order = [quoted(name) for name in ORDER if name in {c.name for c in self.columns}] if self.is_log else []
        return (f"SELECT {', '.join(f'{c.sql} AS {quoted(c.name)}' for c in self.columns)} FROM {quoted(self.schema)}.{quoted(self.name)} AS t"
                + condition + (f" ORDER BY {', '.join(order)}" if order else ""))

    def select_range(self, deployment: int, first: int, last: int) -> str:
        return self.select(f" WHERE deployment = {deployment} AND ledger BETWEEN {first} AND {last}")

    def iceberg(self) -> Schema:
        return Schema(*[NestedField(n, c.name, c.type, required=False) for n, c in enumerate(self.columns, 1)])

    def arrow(self) -> pa.Schema:
        return schema_to_pyarrow(self.iceberg(), include_field_ids=False)


@dataclass(frozen=True)
class Network:
    """A deployment in the database, as of a snapshot. ledger: the newest, None if there is none."""
    deployment: int
    first_ledger: int
    ledger: int | None


class Snapshot:
    def __init__(self, connection: adbc.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str) -> list[tuple]:
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def batches(self, relation: Relation, statement: str) -> Iterator[pa.RecordBatch]:
        """Rows of a relation with the lake's types, streamed: memory does not grow with their number."""
        schema = relation.arrow()
        with self.connection.cursor() as cursor:
            cursor.execute(statement)
            with cursor.fetch_record_batch() as reader:
                for batch in reader:
                    yield pa.RecordBatch.from_arrays([column.cast(field.type) for column, field in zip(batch.columns, schema)], schema=schema)

    def relations(self) -> list[Relation]:
        found: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for schema, name, column, declared in self.rows("""
                SELECT n.nspname::text, c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod)
                FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                WHERE n.nspname IN ('analyst', 'event') AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
                  AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
                  AND NOT (n.nspname = 'event' AND a.attname ~ '_key$') -- keys mean something in one database alone
                ORDER BY n.nspname, c.relname, a.attnum"""):
            if schema != "event" or name not in NO_KIND:
                found.setdefault((schema, name), []).append((column, declared))
        return [relation(schema, name, columns) for (schema, name), columns in found.items()]

    def check_role(self) -> None:
        """Fails if the role can read a jurisdiction: what a role cannot see, no mistake here can publish."""
        seen = self.rows("""
            SELECT current_user::text, format('%I.%I', n.nspname, c.relname)
            FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
              JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE n.nspname IN ('analyst', 'chain', 'event', 'state', 'history', 'asof', 'kyc') AND a.attname = 'jurisdiction'
              AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
            LIMIT 1""")
        if seen:
            raise LakeError(f"the role {seen[0][0]} can read jurisdictions ({seen[0][1]}): log in as tidemark_analyst, "
                            "or give --role a role that cannot (tools/lake/README.md)")

    def networks(self) -> list[Network]:
        return [Network(*row) for row in self.rows("SELECT deployment::integer, first_ledger::integer, ledger::integer FROM analyst.networks ORDER BY 1")]

    def first_stored(self, deployment: int) -> int | None:
        return self.rows(f"SELECT min(ledger)::integer FROM analyst.ledgers WHERE deployment = {deployment}")[0][0]

    def ledger_hash(self, deployment: int, ledger: int) -> str:
        found = self.rows(f"SELECT hash FROM analyst.ledgers WHERE deployment = {deployment} AND ledger = {ledger}")
        if not found:
            raise LakeError(f"ledger {ledger} of deployment {deployment} is not in the database")
        return found[0][0]

    def stored(self, deployment: int, first: int, last: int) -> int:
        """How many ledgers of the range are in the database."""
        return self.rows(f"SELECT count(*) FROM analyst.ledgers WHERE deployment = {deployment} AND ledger BETWEEN {first} AND {last}")[0][0]

    def archived(self, deployment: int, first: int, last: int) -> tuple[int, int, int] | None:
        """A detached range of ledgers that touches this one, and when it was detached, in milliseconds since 1970."""
        found = self.rows(f"""SELECT from_ledger::integer, to_ledger::integer, (1000 * extract(epoch FROM detached_at))::bigint FROM analyst.archived
            WHERE deployment = {deployment} AND from_ledger <= {last} AND to_ledger >= {first} ORDER BY 1 LIMIT 1""")
        return found[0] if found else None


def relation(schema: str, name: str, columns: list[tuple[str, str]]) -> Relation:
    names = {column for column, _ in columns}
    public = [(column, declared) for column, declared in columns if not is_private(column)]
    made = [c for column, declared in public for c in columns_of(schema, name, column, declared)]
    is_log = {"deployment", "ledger", "closed_at"} <= names and (schema, name) != ("analyst", "networks")
    if not is_log:
        made.append(as_of(names))
    return Relation(schema, name, tuple(made), is_log)


def as_of(names: set[str]) -> Column:
    """Returns the column as_of_ledger of tables of the present state."""
    own = "(SELECT n.ledger::integer FROM analyst.networks AS n WHERE n.deployment = t.deployment)"
    return Column("as_of_ledger", own if "deployment" in names else "NULL::integer", IntegerType())


class Database:
    def __init__(self, url: str, role: str | None) -> None:
        if role is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$]*", role):
            raise LakeError(f"{role} is no name of a role")
        self.role = role
        try:
            self.connection = adbc.connect(url)
        except adbc.Error as error:
            raise LakeError(f"no connection to the database: {error}") from error

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        snapshot = Snapshot(self.connection)
        try:
            for statement in ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", "SET LOCAL statement_timeout = 0",
                              "SET LOCAL idle_in_transaction_session_timeout = 0", "SET LOCAL TimeZone = 'UTC'",
                              *([f"SET LOCAL ROLE {quoted(self.role)}"] if self.role else []),
                              "LOCK TABLE analyst.archived IN ACCESS SHARE MODE"):  # before a SELECT, which takes the snapshot
                with self.connection.cursor() as cursor:
                    cursor.execute(statement)
            snapshot.check_role()
            yield snapshot
        finally:
            self.connection.rollback()

    def lock(self, location: str) -> None:
        """One writer at a time for each lake, login and server. An installation lets its daemons alone take advisory locks
        (tools/packaging/database.sql), so the session's application_name marks the lake: every login may set it and read that of
        others, and it ends with this process. Each writer sets it before it looks for others: of two that begin at the same instant,
        both may stop, never neither."""
        name = "tidemark lake " + hashlib.sha256(location.encode()).hexdigest()[:40]  # PostgreSQL cuts names at 63 bytes
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT set_config('application_name', $1, false)", (name,))
            cursor.fetchall()
        self.connection.commit()  # a setting of a transaction that is rolled back ends with it
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND usename = session_user"
                           " AND datname = current_database() AND pid <> pg_backend_pid()", (name,))
            others = cursor.fetchall()[0][0]
        self.connection.rollback()
        if others:
            raise LakeError(f"another process is writing the lake {location}")

    def close(self) -> None:
        self.connection.close()

"""`lake views`: SQL that gives DuckDB the lake's tables under the names of the database, `analyst.swaps` …"""
from collections.abc import Iterator

from lake_folder import Folder


def tables(folder: Folder) -> list[tuple[str, str]]:
    """(schema, name) of each table."""
    inner = len(folder.location) + 1
    parts = [name[inner:].split("/") for name in folder.files.below(folder.location)]
    if folder.form == "iceberg":
        return sorted({(p[0], p[1]) for p in parts if p[2:] == ["metadata", "version-hint.text"]})
    return sorted({(p[0], p[1].removesuffix(".parquet")) for p in parts if len(p) in (2, 3) and p[-1].endswith(".parquet")})


def source(folder: Folder, schema: str, name: str) -> str:
    path = f"{folder.location}/{schema}/{name}".replace("'", "''")
    if folder.form == "iceberg":
        return f"iceberg_scan('{path}')"
    single = folder.files.exists(f"{folder.location}/{schema}/{name}.parquet")
    return f"read_parquet('{path}{'' if single else '/*'}.parquet')"


def views(folder: Folder) -> Iterator[str]:
    found = tables(folder)
    yield from (f"CREATE SCHEMA IF NOT EXISTS {schema};" for schema in sorted({schema for schema, _ in found}))
    yield from (f'CREATE OR REPLACE VIEW {schema}."{name}" AS SELECT * FROM {source(folder, schema, name)};' for schema, name in found)

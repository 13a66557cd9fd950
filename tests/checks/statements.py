#!/usr/bin/env python3
"""Statements are bound to the deployment file's contracts when the program is built (schema/statements.py): each table that a
statement reads has its condition, and nothing else changes."""
import os
import pathlib
import sys

ROOT = pathlib.Path(os.environ.get("TIDE_SOURCE_DIR", "."))
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT.resolve() / "schema"))
from statements import bind, rollup_pieces, values_of

ROLES = "bound_roles AS MATERIALIZED (SELECT max(j.address) FILTER (WHERE j.role = 'liquidity_pool') AS liquidity_pool"
HAS = (
    ("SELECT 1 FROM state.oracle_feed AS f WHERE f.deployment = $1", "WITH " + ROLES),
    ("SELECT 1 FROM state.oracle_feed AS f WHERE f.deployment = $1",
     " SELECT 1 FROM (state.oracle_feed AS f JOIN (SELECT) AS f_bound ON f.contract = (SELECT r.oracle FROM bound_roles AS r))"
     " WHERE f.deployment = $1"),
    ("SELECT 1 FROM history.oracle_feed WHERE deployment = $1",
     "(history.oracle_feed AS oracle_feed JOIN (SELECT) AS oracle_feed_bound ON oracle_feed.contract_key ="
     " (SELECT chain.word_key(r.oracle) FROM bound_roles AS r))"),
    ("SELECT 1 FROM e,\n event.liquidity_pool_swap AS y",
     "FROM e,\n (event.liquidity_pool_swap AS y JOIN (SELECT) AS y_bound ON y.contract_key ="),
    ("SELECT 1 FROM e LEFT JOIN state.dao_governance_proposal AS p ON true",
     "LEFT JOIN (state.dao_governance_proposal AS p JOIN (SELECT) AS p_bound ON p.contract ="
     " (SELECT r.dao_governance FROM bound_roles AS r)) ON true"),
    ("SELECT 1 FROM event.log AS l", "l.contract_key = ANY ((SELECT f.keys FROM bound_followed AS f)::integer[])"),
    ("SELECT 1 FROM chain.call AS c", "(chain.call AS c JOIN (SELECT) AS c_bound ON c.contract_key"),
    ("SELECT 1 FROM state.synth_token_balance AS b", "b.contract = ANY ("),
    ("SELECT 1 FROM event.raw AS r", "r.contract_key = ANY ("),
    ("-- one: deployment\n-- none: x\nWITH a AS (SELECT 1 FROM event.log AS l, state.oracle_feed AS f) SELECT 1",
     " AS contracts) AS f), a AS (SELECT 1 FROM (event.log AS l JOIN"),
)
SAME = (
    "SELECT ledger FROM chain.ledger AS l",
    "SELECT chain.call_count(1) FROM chain.calls AS c",
    "WITH a AS (SELECT 1) SELECT 'state.oracle_feed' FROM a",
    "-- list: deployment\n-- over state.oracle_feed\nSELECT 1",
)


def main():
    for sql, part in HAS:
        assert part in bind(sql), f"{sql}: no {part!r} in {bind(sql)}"
    for sql in SAME:
        assert bind(sql) == sql, bind(sql)
    assert bind(HAS[-1][0]).startswith("-- one: deployment\n-- none: x\nWITH bound_roles"), bind(HAS[-1][0])
    assert values_of("a, f(b, c)").startswith(", (a)::text AS first, (f(b, c))::text, NULL::text"), values_of("a, f(b, c)")
    assert values_of("a").count("NULL::text") == 15
    into = {}
    pieces = " ".join(rollup_pieces("INSERT INTO {=day} SELECT $1 FROM {!event.liquidity_pool_swap} AS s, {chain.call}", into))
    assert list(into) == ["day"] and pieces.count("TIDE_ROLLUP_VALUE") == 2 and "TIDE_ROLLUP_BESIDE" in pieces, pieces
    assert '\\"liquidity_pool_swap\\".contract_key =' in pieces and "c.role = 'liquidity_pool'" in pieces, pieces
    print(len(HAS) + len(SAME), "statements")


main()

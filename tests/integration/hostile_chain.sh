#!/usr/bin/env bash
# A hostile chain of a fixed seed beside the same chain without attackers (tests/hostile/chain; more seeds: tools/test fuzz).
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/../hostile/chain" --seed "${TIDE_HOSTILE_SEED:-2}" --ledgers 64 --tail 64 --txs 5

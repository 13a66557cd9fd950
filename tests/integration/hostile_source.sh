#!/usr/bin/env bash
# A lake and an RPC server that lie, of a fixed seed (tests/hostile/source; more seeds: tools/test fuzz).
here=$(cd "$(dirname "$0")" && pwd)
exec "$here/../hostile/source" --seed "${TIDE_HOSTILE_SEED:-1}"

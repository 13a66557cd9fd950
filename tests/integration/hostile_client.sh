#!/usr/bin/env bash
# Fixed seeds of the hostile clients (tests/hostile/client). By hand: TIDE_HOSTILE_SEEDS=1000.
exec "$(dirname "$0")/../hostile/client" --seeds 1 "${TIDE_HOSTILE_SEEDS:-16}"

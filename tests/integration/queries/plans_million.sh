#!/usr/bin/env bash
# plans.sh on a million events, 200000 vaults and as many positions, deposits, claims, votes and attestations. About 8 minutes,
# too many for a build with sanitizers.
# label: all
# needs: no sanitizer
export TIDE_LEDGERS=39500 TIDE_GROW=200000
exec "$(dirname "$0")/plans.sh"

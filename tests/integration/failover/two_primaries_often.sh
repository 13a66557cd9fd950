#!/usr/bin/env bash
# Two primaries at once, 20 times: see two_primaries.sh.
# label: all
TIDE_ROUNDS=20
. "$(dirname "$0")/two_primaries.sh"

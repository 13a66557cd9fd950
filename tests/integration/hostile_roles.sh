#!/usr/bin/env bash
# Fixed seeds of tests/hostile/roles (more seeds: tools/test fuzz): the logins of KYC, an analyst, the feeder (twice) and the attester.
exec "$(dirname "$0")/../hostile/roles" --seeds 32 5

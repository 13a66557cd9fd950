#!/usr/bin/env bash
# Fixed seeds of tests/hostile/roles (more seeds: tools/test fuzz): 45 is the attester's login, 46 that of KYC.
exec "$(dirname "$0")/../hostile/roles" --seeds 45 2

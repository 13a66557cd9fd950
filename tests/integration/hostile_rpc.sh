#!/usr/bin/env bash
# Fixed seeds of tests/hostile/rpc: RPC servers that lie, before the attester. Each was a defect, or reaches what
# another does not: 7 and 23 one server stopped the others, 24 swallowed each sending, 495345073 held each back.
exec "$(dirname "$0")/../hostile/rpc" --seeds 7,23,24,29,495345073

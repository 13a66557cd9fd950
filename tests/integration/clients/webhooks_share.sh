#!/usr/bin/env bash
# Webhooks to partners, without a clock: how many of a node's eight senders integrators can hold that make hanging endpoints again and again, and
# whether another integrator's notification finds a sender at once. The senders are this test's, the queue is the product's.
# TIDE_SHARE_SEED: another order of what happens.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
api_index 64
export PG_BIN
python3 "$here/_webhooks_share.py" || fail "see above"

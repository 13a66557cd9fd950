#!/usr/bin/env bash
# Measures the shares of integrators in a node's eight senders, without a clock: how many senders integrators with
# hanging endpoints can occupy, and whether another integrator's notification finds a free sender at once. The senders
# belong to this test, the queue is the product's. TIDE_SHARE_SEED sets another order of events.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
pg_start
api_index 64
export PG_BIN
python3 "$here/_webhooks_share.py" || fail "see above"

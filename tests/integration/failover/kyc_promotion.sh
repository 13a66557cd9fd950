#!/usr/bin/env bash
# Loses the primary and promotes a synchronous standby while many identity checks run from the session to the
# attestation. Each session that the API acknowledged ends approved and attested, and each person is attested on the
# chain once.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_rpc.sh"
[ -x "$TIDE_BIN/tidemark-api" ] && [ -x "$TIDE_BIN/tidemark-attester" ] || { echo "no tidemark-api or tidemark-attester"; exit 1; }
. "$(dirname "$0")/_servers.sh"
. "$TIDE_SOURCE_DIR/tools/lib/stack.sh"
pg_start
export TIDEMARK_STALE_AFTER_MS=20000
STANDBYS=$PG_DIR/second chain
standby second
sql "ALTER SYSTEM SET synchronous_standby_names = '*'"
sql "SELECT pg_reload_conf()" >/dev/null

stack_kyc "$PG_DIR"
NODE_OPTIONS="--kyc-file $PG_DIR/kyc.json --kyc-reconcile-s 5" NODE_LISTEN=127.0.0.1:$stack_kyc_port node one "$PG_DIR,$PG_DIR/second"
(umask 077 && "$TIDE_BIN/tidemark-sim" keys --name sumsub --seed 8 | awk '{ print $3 }' >"$PG_DIR/verifier.seed")
verifier=$("$TIDE_BIN/tidemark-sim" keys --name sumsub --seed 8 | awk '{ print $2 }')
TIDEMARK_ATTESTER_INTENT_KEY=$stack_intent_key TIDEMARK_ATTESTER_DATABASE_URL=$(servers "$PG_DIR" "$PG_DIR/second") "$TIDE_BIN/tidemark-attester" run \
    --attester-key "$PG_DIR/verifier.seed" --poll-ms 200 --retry-ms-max 500 --rpc "$one_url" --deployment "$TIDEMARK_DEPLOYMENT" 2>"$PG_DIR/attester.log" &

# In each of eight threads, visitors open sessions and are approved one after another, until the file visitors.end
# exists.
python3 "$(dirname "$0")/_kyc_promotion.py" "$(url one '')" "$stack_kyc_key" "$PG_DIR" >"$PG_DIR/visitors.log" 2>&1 &
visitors=$!
sessions() { [ "$(sql "SELECT $1 FROM kyc.session AS s LEFT JOIN kyc.outbox AS o ON o.session_id = s.id" 2>/dev/null)" = t ]; }
run_on() { kill -0 $visitors 2>/dev/null || fail "visitors: $(tail -n 5 "$PG_DIR/visitors.log")"; sessions "$1"; }
within 60 run_on "count(*) FILTER (WHERE o.state = 'confirmed') >= 10" || fail "nothing is attested: $(tail -n 3 "$PG_DIR/attester.log") $(tail -n 3 "$PG_DIR/one.log")"
# One session in each state, from one without a decision to one whose call is not confirmed.
within 30 run_on "bool_or(s.state IN ('created', 'pending')) AND bool_or(o.state IN ('queued', 'signed', 'submitted'))" || fail "nothing is under way"
lost=$(now)
mark lost
pg_stop immediate
promote second
on second "ALTER SYSTEM SET synchronous_standby_names = ''"
on second "SELECT pg_reload_conf()" >/dev/null
writes_go_on
before=$(sql "SELECT count(*) FROM kyc.outbox WHERE state = 'confirmed'")
within 60 run_on "count(*) FILTER (WHERE o.state = 'confirmed') >= $before + 20" || fail "nothing more is attested: $(tail -n 3 "$PG_DIR/attester.log") $(tail -n 3 "$PG_DIR/one.log")"
touch "$PG_DIR/visitors.end"
wait $visitors || fail "visitors: $(cat "$PG_DIR/visitors.log")"
cat "$PG_DIR/visitors.log"

# The answers that the visitors got are in the database and on the chain.
cut -d ' ' -f 1,2 "$PG_DIR/visitors.acknowledged" | sort -u >"$PG_DIR/told"
sql "SELECT id || ' ' || address FROM kyc.session WHERE state = 'approved'" | sort >"$PG_DIR/held"
lost_ones=$(comm -23 "$PG_DIR/told" "$PG_DIR/held")
[ -z "$lost_ones" ] || fail "acknowledged, and not approved in the database: $lost_ones"
settled() { [ "$(sql "SELECT count(*) FROM kyc.outbox WHERE state <> 'confirmed'")" = 0 ]; }
within 30 settled || fail "the outbox: $(sql "SELECT state, reason, count(*) FROM kyc.outbox GROUP BY 1, 2")"
attested() { sql "SELECT subject FROM event.compliance_registry_attest WHERE verifier = '$verifier' AND subject IN (SELECT address FROM kyc.session)" | sort; }
all_attested() { [ "$(attested | sort -u | wc -l)" -ge "$(wc -l <"$PG_DIR/told")" ]; }
within 30 all_attested || fail "$(attested | wc -l) attestations of $(wc -l <"$PG_DIR/told") people"
twice=$(attested | uniq -d)
[ -z "$twice" ] || fail "attested twice: $twice"
[ "$(sql "SELECT count(*) FROM kyc.session")" = "$(sql "SELECT count(DISTINCT address) FROM kyc.session")" ] || fail "an address has two sessions"
echo "ok $(wc -l <"$PG_DIR/told") sessions over the promotion: none lost, each person attested once; the indexer wrote again after $gap s"

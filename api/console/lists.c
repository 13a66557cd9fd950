/* The lists' statements. Each row is an item as JSON, and the position after that item.
 *
 * Parameters: $1 deployment, $2 items of a page plus one, $3 position (NULL: the start), $4
 * seconds, or the address or webhook that the path names. */
#include "api/console/console.h"
#include "api/kyc/base/state.h"

/* clang-format off */

#define UTC(time) "to_char(" time " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
#define MICROS(time) "(extract(epoch FROM " time ") * 1000000)::bigint"

/* The compliance of an address in the index; NULL if there is no record. */
#define CHAIN(address) \
    "(SELECT jsonb_build_object('status', c.status, 'frozen', c.frozen, 'expired', c.expired," \
    "  'expiresAt', " UTC("c.expires_at") ", 'ledger', c.ledger) FROM analyst.compliance AS c" \
    "  WHERE c.deployment = $1::smallint AND c.address = " address " LIMIT 1)"

#define AGE(time) "greatest(0, extract(epoch FROM clock_timestamp() - " time "))::bigint"
#define QUOTED(word) ", '" word "'"

/* Intents, then sessions, each the oldest first. A session needs a person while it is in review,
 * and for 30 days if it is closed although its provider approves the person
 * (tide_kyc_reason_unusable). The position of an intent is its id; of a session "s.", the time, its
 * id. */
const char console_review_sql[] =
    "SELECT n.item, n.position FROM ("
    "(SELECT jsonb_build_object('id', r.id::text, 'kind', r.kind, 'action', r.action,"
    "   'reason', r.reason, 'detail', r.detail, 'sessionId', r.session_id, 'address', r.address,"
    "   'provider', r.provider, 'sessionState', r.session_state, 'since', " UTC("r.since") ","
    "   'ageS', " AGE("r.since") ", 'ledger', r.confirmed_ledger, 'txHash', r.tx_hash,"
    "   'chain', " CHAIN("r.address") ") AS item, r.id::text AS position, 1 AS part, r.id AS number,"
    "   '' AS session"
    "  FROM (SELECT * FROM kyc.console_review AS x WHERE x.deployment = $1::smallint"
    "    AND x.id > CASE WHEN $3::text LIKE 's.%' THEN 9223372036854775807"
    "     ELSE coalesce($3::text::bigint, 0) END ORDER BY x.id LIMIT $2::integer) AS r)"
    " UNION ALL"
    " (SELECT jsonb_build_object('id', NULL, 'kind', 'session', 'action', NULL,"
    "   'reason', s.reason, 'detail', NULL, 'sessionId', s.id, 'address', s.address,"
    "   'provider', s.provider, 'sessionState', s.state, 'since', " UTC("s.updated_at") ","
    "   'ageS', " AGE("s.updated_at") ", 'ledger', NULL, 'txHash', NULL,"
    "   'chain', " CHAIN("s.address") "), 's.' || s.micros || '.' || s.id, 2, s.micros, s.id"
    "  FROM (SELECT x.*, " MICROS("x.updated_at") " AS micros FROM kyc.console_session AS x"
    "   WHERE x.deployment = $1::smallint AND (x.state = 'review'"
    "    OR x.state IN ('declined', 'expired', 'revoked')"
    "     AND x.reason IN (''" TIDE_KYC_UNUSABLE(QUOTED) ")"
    "     AND x.updated_at > clock_timestamp() - interval '30 days')"
    "    AND ($3::text IS NULL OR $3::text NOT LIKE 's.%' OR (" MICROS("x.updated_at") ", x.id) >"
    "     (split_part($3::text, '.', 2)::bigint, split_part($3::text, '.', 3)))"
    "   ORDER BY micros, x.id LIMIT $2::integer) AS s)) AS n"
    " ORDER BY n.part, n.number, n.session LIMIT $2::integer";

/* Beside each proposal whom it concerns, as far as the target is about a person: who confirms must
 * see it. */
const char console_proposals_sql[] =
    "SELECT jsonb_build_object('id', p.id::text, 'action', p.action, 'target', p.target,"
    "  'address', t.address, 'sessionState', t.state, 'would', t.would,"
    "  'chain', " CHAIN("t.address") ","
    "  'detail', p.detail, 'reason', p.reason, 'state', CASE WHEN p.state = 'open' AND p.proposed_at <"
    "   clock_timestamp() - interval '24 hours' THEN 'expired' ELSE p.state END,"
    "  'proposedBy', p.proposed_by, 'proposedAt', " UTC("p.proposed_at") ","
    "  'decidedBy', p.decided_by, 'decidedAt', " UTC("p.decided_at") "), p.id"
    " FROM kyc.proposal AS p LEFT JOIN LATERAL ("
    "  SELECT r.address, r.session_state AS state, r.action AS would FROM kyc.console_review AS r"
    "  WHERE p.action = 'requeue' AND r.deployment = p.deployment AND r.id ="
    "   CASE WHEN p.target ~ '^[1-9][0-9]{0,17}$' THEN p.target::bigint END"
    "  UNION ALL SELECT s.address, s.state, NULL FROM kyc.console_session AS s"
    "  WHERE p.action IN ('revoke', 'erase') AND s.deployment = p.deployment AND s.id = p.target"
    " ) AS t ON true WHERE p.deployment = $1::smallint"
    "  AND p.id < coalesce($3::bigint, 9223372036854775807)"
    " ORDER BY p.id DESC LIMIT $2::integer";

const char console_expiring_sql[] =
    "SELECT jsonb_build_object('sessionId', s.id, 'address', s.address, 'provider', s.provider,"
    "  'attestedUntil', " UTC("s.attested_until") ", 'chain', " CHAIN("s.address") "),"
    "  s.micros || '.' || s.id"
    " FROM (SELECT x.*, " MICROS("x.attested_until") " AS micros"
    "  FROM kyc.console_session AS x WHERE x.deployment = $1::smallint AND x.state = 'approved'"
    "   AND x.attested_until > clock_timestamp()"
    "   AND x.attested_until <= clock_timestamp() + $4::bigint * interval '1 s'"
    "   AND ($3::text IS NULL OR (" MICROS("x.attested_until") ", x.id) >"
    "    (split_part($3::text, '.', 1)::bigint, split_part($3::text, '.', 2)))"
    "  ORDER BY micros, x.id LIMIT $2::integer) AS s ORDER BY s.micros, s.id";

/* Sessions of one address, the newest first. */
const char console_address_sql[] =
    "SELECT jsonb_build_object('sessionId', s.id, 'address', s.address, 'provider', s.provider,"
    "  'integrator', s.integrator, 'state', s.state, 'reason', s.reason,"
    "  'openedAt', " UTC("s.created_at") ", 'attestedUntil', " UTC("s.attested_until") ","
    "  'revocationOrderedAt', " UTC("s.revocation_ordered_at") ","
    "  'chain', " CHAIN("s.address") "), s.micros || '.' || s.id"
    " FROM (SELECT x.*, " MICROS("x.created_at") " AS micros"
    "  FROM kyc.console_session AS x WHERE x.deployment = $1::smallint AND x.address = $4::text"
    "   AND ($3::text IS NULL OR (" MICROS("x.created_at") ", x.id) <"
    "    (split_part($3::text, '.', 1)::bigint, split_part($3::text, '.', 2)))"
    "  ORDER BY micros DESC, x.id DESC LIMIT $2::integer) AS s ORDER BY s.micros DESC, s.id DESC";

/* Sessions of 30 days. Days without a session have no item. */
const char console_sessions_sql[] =
    "SELECT jsonb_build_object('day', d.day, 'provider', d.provider, 'states', d.states), d.key"
    " FROM (SELECT n.day, n.provider, jsonb_object_agg(n.state, n.sessions) AS states,"
    "   n.day || '.' || n.provider AS key"
    "  FROM (SELECT to_char(x.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, x.provider,"
    "    x.state, count(*) AS sessions FROM kyc.console_session AS x"
    "   WHERE x.deployment = $1::smallint AND x.created_at > clock_timestamp() - interval '30 days'"
    "   GROUP BY 1, 2, 3) AS n GROUP BY n.day, n.provider) AS d"
    " WHERE d.key < coalesce($3::text, 'z') ORDER BY d.key DESC LIMIT $2::integer";

const char console_providers_sql[] =
    "SELECT jsonb_build_object('provider', p.provider, 'sessions', coalesce(a.sessions, 0),"
    "  'failing', coalesce(a.failing, 0), 'attempts', coalesce(a.attempts, 0),"
    "  'nextCheck', " UTC("a.next_check") ", 'decisionAt', " UTC("a.decision_at") ","
    "  'webhooksWaiting', coalesce(n.webhooks, 0), 'oldestWaiting', " UTC("n.oldest") ","
    "  'webhooksFailed', coalesce(f.webhooks, 0)), p.provider"
    " FROM (SELECT x.provider FROM kyc.console_asked AS x WHERE x.deployment = $1::smallint"
    "   UNION SELECT x.provider FROM kyc.console_provider AS x"
    "   WHERE x.deployment = $1::smallint) AS p"
    " LEFT JOIN kyc.console_asked AS a ON a.deployment = $1::smallint AND a.provider = p.provider"
    " LEFT JOIN kyc.console_provider AS n ON n.deployment = $1::smallint"
    "  AND n.provider = p.provider AND n.state = 'new'"
    " LEFT JOIN kyc.console_provider AS f ON f.deployment = $1::smallint"
    "  AND f.provider = p.provider AND f.state = 'failed'"
    " WHERE p.provider > coalesce($3::text, '') ORDER BY p.provider LIMIT $2::integer";

const char console_attesters_sql[] =
    "SELECT jsonb_build_object('verifier', a.verifier, 'state', a.state,"
    "  'heartbeatAt', " UTC("a.heartbeat_at") ", 'ledger', a.ledger, 'balance', a.balance::text,"
    "  'confirmed', a.confirmed, 'parked', a.parked, 'failures', a.failures,"
    "  'confirmedAt', " UTC("a.confirmed_at") ", 'failedAt', " UTC("a.failed_at") ","
    "  'standing', a.standing), a.verifier"
    " FROM kyc.console_attester AS a WHERE a.deployment = $1::smallint"
    "  AND a.verifier > coalesce($3::text, '') ORDER BY a.verifier LIMIT $2::integer";

const char console_integrators_sql[] =
    "SELECT jsonb_build_object('id', i.id, 'name', i.name, 'origins', i.origins,"
    "  'sessionsPerHour', i.sessions_per_hour, 'state', i.state, 'branded', i.brand IS NOT NULL,"
    "  'keys', (SELECT count(*) FROM kyc.integrator_key AS k WHERE k.integrator = i.id"
    "   AND k.revoked_at IS NULL AND (k.ends_at IS NULL OR k.ends_at > clock_timestamp())),"
    "  'updatedAt', " UTC("i.updated_at") "), i.id"
    " FROM kyc.integrator AS i WHERE $1::smallint IS NOT NULL"
    "  AND i.id COLLATE \"C\" > coalesce($3::text, '') ORDER BY i.id COLLATE \"C\""
    " LIMIT $2::integer";

/* Keys, the active ones first. Neither key nor hash is shown: the database has no key, and the role
 * cannot read the hash. */
const char console_keys_sql[] =
    "SELECT jsonb_build_object('id', k.key_id, 'integrator', k.integrator, 'state', k.state,"
    "  'scopes', k.scopes, 'rate', k.rate, 'burst', k.burst, 'networks', k.networks,"
    "  'createdBy', k.created_by, 'createdAt', " UTC("k.created_at") ","
    "  'notBefore', " UTC("k.not_before") ", 'endsAt', " UTC("k.ends_at") ","
    "  'revokedAt', " UTC("k.revoked_at") ", 'lastUsedOn', k.last_used_at), k.position"
    " FROM (SELECT n.key_id, n.integrator, n.scopes, n.rate, n.burst, n.networks, n.created_by,"
    "   n.created_at, n.not_before, n.ends_at, n.revoked_at, n.last_used_at, n.state,"
    "   n.state || ' ' || n.integrator || ' ' || n.key_id AS position"
    "  FROM (SELECT x.*, CASE WHEN least(x.revoked_at, x.ends_at) <= clock_timestamp()"
    "    THEN 'ended' ELSE 'active' END AS state FROM (SELECT key_id, integrator, scopes, rate,"
    "     burst, networks, created_by, created_at, not_before, ends_at, revoked_at, last_used_at"
    "    FROM kyc.integrator_key) AS x) AS n) AS k"
    " WHERE $1::smallint IS NOT NULL AND k.position COLLATE \"C\" > coalesce($3::text, '')"
    " ORDER BY k.position COLLATE \"C\" LIMIT $2::integer";

const char console_hooks_sql[] =
    "SELECT jsonb_build_object('id', h.id, 'integrator', h.integrator, 'host', h.host,"
    "  'events', h.events, 'state', h.state, 'reason', h.reason, 'failures', h.failures,"
    "  'pausedUntil', CASE WHEN h.paused_until > clock_timestamp() THEN " UTC("h.paused_until") ""
    "   END, 'addresses', h.addresses, 'queued', h.queued, 'oldest', " UTC("h.oldest") ","
    "  'createdAt', " UTC("h.created_at") "), h.integrator || ' ' || h.id"
    " FROM kyc.console_hook AS h WHERE h.deployment = $1::smallint"
    "  AND (h.integrator || ' ' || h.id) COLLATE \"C\" > coalesce($3::text, '')"
    " ORDER BY (h.integrator || ' ' || h.id) COLLATE \"C\" LIMIT $2::integer";

const char console_deliveries_sql[] =
    "SELECT jsonb_build_object('id', d.id::text, 'eventId', d.event, 'type', d.kind,"
    "  'state', d.state, 'attempts', d.attempts, 'status', d.last_status, 'error', d.last_error,"
    "  'nextAttemptAt', " UTC("d.next_try") ", 'createdAt', " UTC("d.created_at") ","
    "  'deliveredAt', " UTC("d.done_at") "), d.id"
    " FROM kyc.console_delivery AS d WHERE d.deployment = $1::smallint AND d.hook = $4::text"
    "  AND d.id < coalesce($3::bigint, 9223372036854775807) ORDER BY d.id DESC LIMIT $2::integer";

const char console_audit_sql[] =
    "SELECT jsonb_build_object('id', a.id::text, 'at', " UTC("a.at") ", 'actor', a.actor,"
    "  'what', a.what, 'about', a.about, 'detail', a.detail), a.id FROM kyc.audit AS a"
    " WHERE $1::smallint IS NOT NULL AND a.id < coalesce($3::bigint, 9223372036854775807)"
    " ORDER BY a.id DESC LIMIT $2::integer";

/* Reads the audit from its first row, so it may take a minute. */
const char console_check_sql[] =
    "SELECT jsonb_build_object('rows', (SELECT count(*) FROM kyc.audit), 'broken', b.id::text,"
    "  'intact', b.id IS NULL, 'head', (SELECT encode(a.hash, 'hex') FROM kyc.audit AS a"
    "   ORDER BY a.id DESC LIMIT 1)), 0 FROM (SELECT kyc.audit_broken() AS id) AS b";

/* The network, the newest indexed ledger, and its age. */
const char console_head_sql[] =
    "SELECT d.passphrase, c.ledger, " UTC("c.closed_at") ", greatest(0,"
    "  round(extract(epoch FROM clock_timestamp() - c.closed_at) * 1000))::bigint"
    " FROM chain.deployment AS d LEFT JOIN chain.cursor AS c ON c.deployment = d.id"
    " WHERE d.id = $1::smallint";

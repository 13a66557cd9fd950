-- one: deployment at address
-- none: there is no such address
-- tag: Activity
-- summary: All that an address holds
-- about: Balances, vaults, positions, deposit, votes, claims and compliance in one answer. Each list has the first 100 items,
--   by key; of votes and claims the newest 20. Counts go up to 200: 200 says that there are as many or more. Their own
--   routes page over all. An address that holds nothing has empty lists.
-- answer: Portfolio
--   address           Address                  the address
--   compliance        PortfolioCompliance      whether it may trade
--   balances          PortfolioBalance[<=100]  of tokens; an account's trustlines are no entries of a contract and are not here
--   balancesCount     Count                    number of its balances, up to 200
--   vaults            Vault[<=100]             its vaults
--   vaultsCount       Count                    number of its vaults, up to 200
--   positions         PortfolioPosition[<=100]  its liquidity, in all pools
--   positionsCount    Count                    number of its positions, up to 200
--   stabilityDeposit  StabilityDeposit?        in the stability pool; null: none
--   votes             PortfolioVote[<=20]      its newest votes
--   claims            EarningsClaim[<=20]      its newest claims of earnings
--   claimable         PortfolioClaimable?      what a claim of earnings would credit; null: not indexed, or the contract would
--                                              refuse to say
--   eventsArchived    boolean                  true: votes and claims of archived ledgers are missing
-- schema: PortfolioCompliance
--   compliant       boolean?  whether the registry's rule lets the address trade; null: not known, see unknownBecause
--   status          ComplianceStatus?  as the protocol defines it; null: not known
--   reasonCode      ComplianceReason?  the step of the contract's check that decided, as in /api/sdk/kyc/status; null: not known
--   provider        Address?  the verifier that wrote its record; null: no record
--   expiresAt       Time?     when its record ends; null: it does not, or not before the year 10000, or no record
--   whitelisted     boolean?  whether the registry's whitelist names it; null: not known
--   unknownBecause  "stale|incomplete"?
--                             why nothing is told; null: it is. stale: the indexer was not heard of for too long, or the newest
--                             ledger is too old. incomplete: the registry is not indexed whole
-- schema: PortfolioBalance
--   token          Address   the token
--   tokenSymbol    string?   its symbol, where it is known
--   decimals       integer?  of the token; null: not known
--   balance        Amount?+?  raw units
--   value          Amount?+?  in US dollars, with the decimals of USDC: of USDC itself, of a market's token and of collateral by the
--                             averages that the engine uses; null: no fresh average, or none of these
-- schema: PortfolioPosition
--   pool  Symbol  id of the pool
--   ...Position
-- schema: PortfolioVote
--   proposalId  U64  number of the proposal
--   ...Vote
-- schema: PortfolioClaimable
--   deposit    Amount+?           its stake
--   total      Amount+?           of the newest 100 closed epochs
--   epochs     ClaimableEpoch[]   of the newest 100 closed epochs
--   nextEpoch  U64?               `epoch` of /api/earnings/claimable for older ones; null: these were all
--   refused    "no_deposit"?      why a claim would be refused; null: it would not
-- example: {"address":"GA25OGO7D4AFPW4G3P6IC7C6MLR42B54U62WNNWKFEGHRC3XEA5ANBRC", "balancesCount":0, "vaultsCount":0,
--   "positionsCount":0, "balances":[], "vaults":[], "positions":[], "stabilityDeposit":null, "votes":[], "claims":[],
--   "claimable":null, "eventsArchived":false, "compliance":{"compliant":true, "status":"Verified", "reasonCode":"compliant",
--   "provider":"GA3WPWKYUNJXX2YWO2V7NOZL5RS5MWCWWVM3OHODGWFKONDOGOLEB3LD", "expiresAt":"2027-02-25T17:27:41Z",
--   "whitelisted":false, "unknownBecause":null}}
--
-- Each list reads at most 201 keys in their order, however many the address has: keys of present entries, and keys that were
-- removed since the requested ledger. api/routes/portfolio.c adds compliance and claimable.
-- part: stability_books
, m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer)),
y AS MATERIALIZED (
  SELECT y.token, y.feed FROM chain.collateral AS y
  WHERE y.deployment = $1 AND ($2 = 2147483647 OR greatest(y.accepted_at, y.priced_at) <=
    (SELECT l.closed_at FROM chain.ledger AS l WHERE l.deployment = $1 AND l.ledger = $2))
), u AS MATERIALIZED (
  SELECT (SELECT q.token FROM chain.quote AS q WHERE q.deployment = $1) AS token,
    (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS decimals
), b AS MATERIALIZED (
  (SELECT k.key_hash, k.contract AS token, h.value AS balance FROM state.synth_token_balance AS k,
    LATERAL (SELECT h.value, h.removed FROM asof.synth_token_balance AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE k.deployment = $1 AND k.address = $3 AND NOT h.removed
    AND ($2 = 2147483647 OR NOT chain.followed_after($1, k.contract, $2))
  ORDER BY k.key_hash LIMIT 201)
  UNION ALL
  (SELECT k.key_hash, k.contract, h.amount FROM state.stellar_asset_balance AS k,
    LATERAL (SELECT h.amount, h.removed FROM asof.stellar_asset_balance AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE k.deployment = $1 AND k.address = $3 AND NOT h.removed
    AND ($2 = 2147483647 OR NOT chain.followed_after($1, k.contract, $2) AND NOT chain.followed_after($1, $3, $2))
  ORDER BY k.key_hash LIMIT 201)
  UNION ALL
  (SELECT k.key_hash, k.contract, h.value
  FROM (SELECT DISTINCT h.key_hash, h.contract FROM history.synth_token_balance AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.address = $3 AND NOT EXISTS (SELECT
        FROM state.synth_token_balance AS s WHERE s.deployment = $1 AND s.key_hash = h.key_hash)) AS k,
    LATERAL (SELECT h.value, h.removed FROM asof.synth_token_balance AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed AND NOT chain.followed_after($1, k.contract, $2)
  ORDER BY k.key_hash LIMIT 201)
  UNION ALL
  (SELECT k.key_hash, k.contract, h.amount
  FROM (SELECT DISTINCT h.key_hash, h.contract FROM history.stellar_asset_balance AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.address = $3 AND NOT EXISTS (SELECT
        FROM state.stellar_asset_balance AS s WHERE s.deployment = $1 AND s.key_hash = h.key_hash)) AS k,
    LATERAL (SELECT h.amount, h.removed FROM asof.stellar_asset_balance AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed AND NOT chain.followed_after($1, k.contract, $2) AND NOT chain.followed_after($1, $3, $2)
  ORDER BY k.key_hash LIMIT 201)
), w AS MATERIALIZED (
  (SELECT h.key_hash, h.synth, h.key_owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at
  FROM state.synthetic_engine_vault AS k, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE k.deployment = $1 AND k.key_owner = $3 AND NOT h.removed
  ORDER BY k.key_hash LIMIT 201)
  UNION ALL
  (SELECT h.key_hash, h.synth, h.key_owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger,
    h.closed_at
  FROM (SELECT DISTINCT h.key_hash FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.key_owner_key = chain.word_key($3) AND NOT EXISTS (SELECT
        FROM state.synthetic_engine_vault AS s WHERE s.deployment = $1 AND s.key_hash = h.key_hash)) AS k,
    LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed
  ORDER BY h.key_hash LIMIT 201)
), v AS (
  SELECT * FROM w ORDER BY w.key_hash LIMIT 100
), l AS MATERIALIZED (
  (SELECT h.* FROM state.liquidity_pool_lp_pos AS k, LATERAL (SELECT * FROM history.liquidity_pool_lp_pos AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE k.deployment = $1 AND k.provider = $3 AND NOT h.removed
  ORDER BY k.key_hash LIMIT 201)
  UNION ALL
  (SELECT h.* FROM (SELECT DISTINCT h.key_hash FROM history.liquidity_pool_lp_pos AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.provider = $3 AND NOT EXISTS (SELECT
        FROM state.liquidity_pool_lp_pos AS s WHERE s.deployment = $1 AND s.key_hash = h.key_hash)) AS k,
    LATERAL (SELECT * FROM history.liquidity_pool_lp_pos AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed
  ORDER BY h.key_hash LIMIT 201)
)
SELECT row_to_json(z)::text, (extract(epoch FROM clock_timestamp()) * 1000)::numeric(20,0)::text
FROM (SELECT
    to_json(ARRAY(SELECT row_to_json(x)
      FROM (SELECT * FROM b ORDER BY b.key_hash LIMIT 100) AS b
        LEFT JOIN LATERAL (SELECT t.symbol, t.decimals
            FROM chain.token_at($1::smallint, b.token, $2::integer) AS t) AS t ON true,
        u, LATERAL (SELECT CASE WHEN b.token = u.token THEN b.balance ELSE chain.quoted(b.balance, coalesce(
            (SELECT m.synth_price FROM m WHERE m.token = b.token ORDER BY m.symbol LIMIT 1),
            (SELECT m.collateral_price FROM m, y WHERE y.token = b.token AND y.feed = m.collateral_feed ORDER BY m.symbol LIMIT 1)),
            t.decimals, u.decimals) END AS value) AS w,
        LATERAL (SELECT
          b.token AS "token",
          t.symbol AS "tokenSymbol",
          t.decimals AS "decimals",
          b.balance::text AS "balance",
          analyst.scaled(b.balance, t.decimals)::text AS "balanceScaled",
          w.value::text AS "value",
          analyst.scaled(w.value, u.decimals)::text AS "valueScaled"
        ) AS x
      ORDER BY t.symbol, b.token, b.key_hash)) AS "balances",
    least((SELECT count(*) FROM b), 200) AS "balancesCount",
    to_json(ARRAY(SELECT row_to_json(x)
-- part: vault_item
      ORDER BY v.synth, v.key_hash)) AS "vaults",
    least((SELECT count(*) FROM w), 200) AS "vaultsCount",
    to_json(ARRAY(SELECT row_to_json(i)
      FROM (SELECT * FROM l ORDER BY l.key_hash LIMIT 100) AS l
        LEFT JOIN LATERAL (
          SELECT p.token_a, p.token_b, p.reserve_a, p.reserve_b, p.total_shares, p.fee_a_accum, p.fee_b_accum,
            (SELECT d.decimals FROM chain.decimals_at($1::smallint, p.token_a, $2::integer) AS d) AS decimals_a, (SELECT d.decimals FROM chain.decimals_at($1::smallint, p.token_b, $2::integer) AS d) AS decimals_b
          FROM (
            SELECT s.key_hash FROM state.liquidity_pool_pool AS s
            WHERE s.deployment = $1 AND s.pool_id = l.pool_id AND s.contract = l.contract
            UNION
            SELECT h.key_hash FROM history.liquidity_pool_pool AS h
            WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.pool_id = l.pool_id AND h.contract = l.contract
          ) AS k, LATERAL (SELECT * FROM history.liquidity_pool_pool AS h
            WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
            ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS p
          WHERE NOT p.removed LIMIT 1
        ) AS p ON true,
-- part: position_item
        , LATERAL (SELECT l.pool_id AS "pool", x.*) AS i
      ORDER BY l.pool_id, l.key_hash)) AS "positions",
    least((SELECT count(*) FROM l), 200) AS "positionsCount",
    (SELECT row_to_json(x)
-- part: stability_of
-- part: stability_item
      ) AS x
      WHERE NOT d.removed LIMIT 1) AS "stabilityDeposit",
    to_json(ARRAY(SELECT row_to_json(i)
      FROM (SELECT * FROM event.dao_governance_voted AS y
          WHERE y.deployment = $1 AND y.voter_key = chain.word_key($3) AND y.ledger <= $2
          ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC LIMIT 20) AS y,
-- part: vote_item
        , LATERAL (SELECT y.proposal_id::text AS "proposalId", x.*) AS i
      ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC)) AS "votes",
    to_json(ARRAY(SELECT row_to_json(x)
      FROM (SELECT * FROM event.earnings_distributor_revenue_claimed AS y
          WHERE y.deployment = $1 AND y.claimer_key = chain.word_key($3) AND y.ledger <= $2
          ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC LIMIT 20) AS y,
-- part: claim_item
      ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC)) AS "claims",
    EXISTS (SELECT FROM chain.archive AS a WHERE a.deployment = $1 AND a.from_ledger <= $2) AS "eventsArchived"
  ) AS z

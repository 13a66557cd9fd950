-- one: deployment at walletId
-- none: there is no wallet of that number
-- tag: Governance
-- summary: One multisig wallet
-- about: Its signers, threshold and scope.
-- answer: WalletAnswer
--   ...Wallet
-- A multisig wallet.
SELECT row_to_json(x)::text
FROM (
    (SELECT s.wallet_id, s.threshold, s.signers, s.scope, s.active, s.ledger, s.closed_at
      FROM state.dao_governance_multi_sig_wallet AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.wallet_id = $3::bigint LIMIT 1)
    UNION ALL
    (SELECT k.wallet_id, h.threshold, h.signers, h.scope, h.active, h.ledger, h.closed_at
    FROM (
        SELECT s.wallet_id, s.key_hash FROM state.dao_governance_multi_sig_wallet AS s
          WHERE s.deployment = $1::smallint AND s.wallet_id = $3::bigint
        UNION
        SELECT h.wallet_id, h.key_hash FROM history.dao_governance_multi_sig_wallet AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer AND h.wallet_id = $3::bigint
        ORDER BY 1
      ) AS k, LATERAL (
        SELECT h.threshold, h.signers, h.scope, h.active, h.ledger, h.closed_at, h.removed
          FROM history.dao_governance_multi_sig_wallet AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed LIMIT 1)
  ) AS v, LATERAL (SELECT
-- part: wallet_item
  ) AS x

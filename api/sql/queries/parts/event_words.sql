-- An event e of event.log with its words. A page is taken with keys alone: the planner then reads an index in its order.
    SELECT e.ledger, e.tx, e.op, e.event, e.closed_at,
      (SELECT w.word FROM chain.word AS w WHERE w.id = e.contract_key) AS contract,
      (SELECT k.word FROM chain.kind AS k WHERE k.id = e.kind_key) AS kind,
      (SELECT w.word FROM chain.word AS w WHERE w.id = e.subject_key) AS subject,
      array_remove(ARRAY[(SELECT w.word FROM chain.word AS w WHERE w.id = e.addresses_1_key),
        (SELECT w.word FROM chain.word AS w WHERE w.id = nullif(e.addresses_2_key, e.addresses_1_key))], NULL) AS addresses

-- one: deployment at address
-- none: there is no deposit of that address
-- tag: Stability pool
-- summary: One deposit
-- about: What is left of it after liquidations, and the gains.
-- answer: StabilityDepositAnswer
--   ...StabilityDeposit
-- A deposit in the stability pool, as it is or as it was.
-- The present value and the gain of a deposit follow the contract's own arithmetic. They are null where the contract would refuse.
-- part: stability_books
SELECT row_to_json(x)::text
-- part: stability_of
-- part: stability_item
  ) AS x
WHERE NOT d.removed
LIMIT 1

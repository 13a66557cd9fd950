"""Writes a page with the portfolio of an address: python portfolio.py G… >portfolio.html"""

import html
import os
import sys

from tidemark_client import Client, to_decimal

with Client(os.environ["TIDEMARK_API_URL"]) as api:
    answer = api.portfolio(address=sys.argv[1])
data = answer.data
rows = [("balance", one["tokenSymbol"] or one["token"], to_decimal(one["balance"], one["decimals"]) if one["decimals"] is not None and one["balance"] is not None else "unknown")
        for one in data["balances"]]
rows += [(f"vault, {one['state']}", one["market"], one["collateralScaled"]) for one in data["vaults"]]
rows += [("liquidity", one["pool"], one["shares"]) for one in data["positions"]]
print(f"<!doctype html><title>Portfolio</title><p>Ledger {answer.ledger}; may trade: {data['compliance']['compliant']}<table>")
for row in rows:  # names come from contracts
    print("<tr>" + "".join(f"<td>{html.escape(str(cell))}" for cell in row))
print("</table>")

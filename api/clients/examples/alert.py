"""Says when a price leaves a range: python alert.py XLM 0.30 0.45"""

import os
import sys

from tidemark_client import Client, to_decimal, to_raw

DECIMALS = 7  # of all prices
asset, low, high = sys.argv[1:4]
least, most = to_raw(low, DECIMALS), to_raw(high, DECIMALS)
with Client(os.environ["TIDEMARK_API_URL"]) as api:
    now = api.price(asset=asset)
    print(f"{asset} {now.data['latestPriceScaled']} at ledger {now.ledger}{', stale' if now.data['stale'] else ''}", flush=True)
    outside = False
    for message in api.stream(["price"], assets=[asset]):
        if message.type == "stale":
            print("prices are not known to be fresh", flush=True)
        if message.type != "price" or message.data["latestPrice"] is None:
            continue
        latest = message.data["latestPrice"]
        is_outside = not least <= latest <= most
        if is_outside != outside:
            place = "outside" if is_outside else "back inside"
            print(f"ALERT {asset} {to_decimal(latest, DECIMALS)} is {place} {low} to {high}, ledger {message.data['ledger']}", flush=True)
        outside = is_outside

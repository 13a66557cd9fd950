"""What the types of the Python package accept and refuse with mypy --strict, which calls an ignore that is not needed a fault. Checked, never run."""

from datetime import date, datetime, timezone

from tidemark_client import Client, Event, StreamMessage, items, verify_webhook


def amount_of(event: Event) -> int | None:
    if event["kind"] == "liquidity_pool_swap":
        return event["fields"]["amountIn"] if event["fields"] else None
    if event["kind"] == "synthetic_engine_mint" and event["fields"]:
        market: str = event["fields"]["market"]
        print(market, event["fields"]["partnerId"])  # type: ignore[typeddict-item]
    return None


def told(message: StreamMessage) -> None:
    if message.type == "price":
        latest: int | None = message.data["latestPrice"]
        ledger: int = message.data["ledger"]
        print(latest, ledger)
    elif message.type == "event":
        print(amount_of(message.data))
    elif message.type == "compliance":
        may: bool = message.data["compliant"]
        print(may)


def live(client: Client) -> None:
    for message in client.stream(["event", "price"], kinds=["liquidity_pool_swap"]):
        told(message)
    client.stream(["event"], kinds=["liquidity_pool_swop"])  # type: ignore[list-item]
    client.stream(["events"])  # type: ignore[list-item]
    client.events(kind="liquidity_pool_swop")  # type: ignore[arg-type]
    client.vaults(markt="sGOLD")  # type: ignore[call-arg]
    client.events(from_=date(2026, 11, 1), to=datetime(2026, 12, 1, tzinfo=timezone.utc))
    client.events(from_="2026-11-01", to=1793491200)
    client.events(from_=(2026, 11, 1))  # type: ignore[arg-type]
    for one in items(client.events, kind="oracle_twap"):
        print(one)


def notified(body: bytes, headers: dict[str, str]) -> None:
    one = verify_webhook(body, headers, "whsec_x")
    if one.type == "compliance.updated":
        ledger: int = one.data["ledger"]
        print(ledger, one.data["previouslyCompliant"])

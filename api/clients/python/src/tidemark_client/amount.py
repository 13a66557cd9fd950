"""Exact amounts: integers of raw units, and their decimal numbers. No floating point anywhere."""

from __future__ import annotations

import re
from decimal import Context, Decimal

_EXACT = Context(prec=160)


def to_decimal(raw: int, decimals: int) -> Decimal:
    """12345678 with 7 decimals is Decimal("1.2345678")."""
    return Decimal(raw).scaleb(-decimals, context=_EXACT)


def to_raw(amount: Decimal | str | int, decimals: int) -> int:
    """Decimal("1.5") with 7 decimals is 15000000. ValueError for what has more decimals, or is no decimal number: nothing is rounded."""
    if isinstance(amount, str) and not re.fullmatch(r"-?[0-9]{1,77}(\.[0-9]{1,77})?", amount):
        raise ValueError("not a decimal number")
    value = Decimal(amount)
    if not value.is_finite():
        raise ValueError("not a decimal number")
    raw = value.scaleb(decimals, context=_EXACT)
    if raw != raw.to_integral_value():
        raise ValueError(f"more than {decimals} decimals")
    return int(raw)

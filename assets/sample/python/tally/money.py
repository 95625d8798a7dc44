"""Amounts of money as whole cents, so that sums are exact."""

from decimal import ROUND_HALF_UP, Decimal


def to_cents(value):
    """Return a decimal number of currency units as whole cents, rounded half up."""
    return int((Decimal(str(value)) * 100).quantize(Decimal("1"), rounding=ROUND_HALF_UP))


def parse_amount(text):
    """Read an amount that a person typed, such as "12.50" or "$12", and return cents."""
    cleaned = text.strip().lstrip("$€£")
    return to_cents(float(cleaned))


def format_cents(cents, symbol="$"):
    """Write cents as a person reads them: "$1,234.50", and "-$0.05" below zero."""
    sign = "-" if cents < 0 else ""
    units, rest = divmod(abs(cents), 100)
    return f"{sign}{symbol}{units:,}.{rest:02d}"


def split_evenly(cents, parts):
    """Split cents into parts that differ by one cent at most and add up to the whole; larger parts come first."""
    if parts < 1:
        raise ValueError("parts must be at least 1")
    base, extra = divmod(cents, parts)
    return [base + 1] * extra + [base] * (parts - extra)

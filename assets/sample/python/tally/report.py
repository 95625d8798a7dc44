"""A plain-text report over invoices."""

from tally.money import format_cents


def totals_by_customer(invoices):
    """Return a dict of customer to the sum of all invoice totals, in cents."""
    totals = {}
    for invoice in invoices:
        totals[invoice.customer] = totals.get(invoice.customer, 0) + invoice.total()
    return totals


def render(invoices):
    """One line a customer, largest total first, then the grand total."""
    totals = totals_by_customer(invoices)
    ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    rows = [f"{name}: {format_cents(cents)}" for name, cents in ordered]
    rows.append(f"Total: {format_cents(sum(totals.values()))}")
    return "\n".join(rows)

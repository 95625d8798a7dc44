"""Invoices: lines of quantity and unit price, and their totals."""

from dataclasses import dataclass, field

from tally.money import to_cents


@dataclass
class Line:
    """One line of an invoice; the price of one unit is in cents."""

    text: str
    quantity: int
    unit_cents: int

    def total(self):
        """Quantity times unit price, in cents."""
        return self.quantity * self.unit_cents


@dataclass
class Invoice:
    """An invoice for one customer."""

    customer: str
    lines: list = field(default_factory=list)
    tax_percent: int = 0

    def add(self, text, quantity, unit_price):
        """Append a line; the unit price is in currency units, as a person says it."""
        if quantity < 1:
            raise ValueError("quantity must be at least 1")
        self.lines.append(Line(text, quantity, to_cents(unit_price)))

    def subtotal(self):
        """The sum of all lines before tax, in cents."""
        return sum(line.total() for line in self.lines)

    def tax(self):
        """The tax on the subtotal in cents, rounded half up."""
        return (self.subtotal() * self.tax_percent + 50) // 100

    def total(self):
        """Subtotal plus tax, in cents."""
        return self.subtotal() + self.tax()

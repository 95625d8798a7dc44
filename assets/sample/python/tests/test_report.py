import unittest

from tally.invoice import Invoice
from tally.report import render


class ReportTest(unittest.TestCase):
    def test_render_orders_by_total(self):
        small = Invoice("Ada")
        small.add("design", 1, 10)
        large = Invoice("Bob")
        large.add("hosting", 1, 1500)
        self.assertEqual(render([small, large]), "Bob: $1,500.00\nAda: $10.00\nTotal: $1,510.00")


if __name__ == "__main__":
    unittest.main()

import unittest

from tally.invoice import Invoice


class InvoiceTest(unittest.TestCase):
    def invoice(self):
        invoice = Invoice("Ada", tax_percent=10)
        invoice.add("design", 2, 50)
        invoice.add("hosting", 1, 9.99)
        return invoice

    def test_totals(self):
        invoice = self.invoice()
        self.assertEqual(invoice.subtotal(), 10999)
        self.assertEqual(invoice.tax(), 1100)
        self.assertEqual(invoice.total(), 12099)

    def test_quantity_must_be_positive(self):
        with self.assertRaises(ValueError):
            Invoice("Ada").add("design", 0, 50)


if __name__ == "__main__":
    unittest.main()

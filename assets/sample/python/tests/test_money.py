import unittest

from tally.money import format_cents, parse_amount, split_evenly, to_cents


class MoneyTest(unittest.TestCase):
    def test_to_cents_rounds_half_up(self):
        self.assertEqual(to_cents(0.125), 13)
        self.assertEqual(to_cents("2.675"), 268)

    def test_parse_amount_plain_and_with_symbol(self):
        self.assertEqual(parse_amount("12.50"), 1250)
        self.assertEqual(parse_amount(" $12 "), 1200)

    def test_parse_amount_rejects_words(self):
        with self.assertRaises(ValueError):
            parse_amount("twelve")

    def test_format_cents(self):
        self.assertEqual(format_cents(123450), "$1,234.50")
        self.assertEqual(format_cents(-5), "-$0.05")

    def test_split_evenly(self):
        self.assertEqual(split_evenly(100, 3), [34, 33, 33])


if __name__ == "__main__":
    unittest.main()

"""Due dates and reminders."""

from datetime import date, timedelta


def is_weekend(day):
    """Whether a date is a Saturday or a Sunday."""
    return day.weekday() >= 5


def due_date(issued, days=30):
    """The day a payment is due: `days` after the issue, moved to the next Monday when it falls on a weekend."""
    if days < 0:
        raise ValueError("days must not be negative")
    due = issued + timedelta(days=days)
    while is_weekend(due):
        due += timedelta(days=1)
    return due


def reminder_level(due, today):
    """How urgent a reminder is: 0 not due yet, 1 up to a week late, 2 up to a month late, 3 later."""
    late = (today - due).days
    if late <= 0:
        return 0
    if late <= 7:
        return 1
    if late <= 30:
        return 2
    return 3

"""Small bookkeeping helpers for freelancers."""

"""Variants that are worth setting: no draw is degenerate, and no key leaves unchecked."""

"""Gradients by hand, from a Jacobian to a whole layer (rules.md 5, type 14)."""

from symattn.teaching.problems.full import variety_of_bank

TYPE = variety_of_bank("gradient")

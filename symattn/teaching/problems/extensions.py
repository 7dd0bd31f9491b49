"""What comes after self-attention: other sources, positions, caches, other orders of work (rules.md 5, type 18)."""

from symattn.teaching.problems.full import variety_of_bank

TYPE = variety_of_bank("extensions")

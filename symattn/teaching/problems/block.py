"""The parts of a Transformer block beside attention, and whole blocks (rules.md 5, type 13)."""

from symattn.teaching.problems.full import variety_of_bank

TYPE = variety_of_bank("block")

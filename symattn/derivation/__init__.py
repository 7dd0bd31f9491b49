"""Derivations: their steps, the operations and the algebras in which they are read, mechanisms, wrong beliefs."""

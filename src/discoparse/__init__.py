"""discoparse: discontinuous constituency parsing with a stack-free transition system and a dynamic oracle."""

__version__ = "0.1.0"

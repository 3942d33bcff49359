"""The transition system of the paper (Section 2), its oracles, and the systems that it replaces."""

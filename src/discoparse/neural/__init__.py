"""The network of the paper (Section 3), and how it decides for many sentences at once."""

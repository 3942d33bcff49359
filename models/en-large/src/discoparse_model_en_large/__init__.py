"""The model en-large of discoparse: files, no code."""

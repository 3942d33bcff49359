"""The model en of discoparse: files, no code."""

"""The model de of discoparse: files, no code."""

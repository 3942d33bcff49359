"""The model is of discoparse: files, no code."""

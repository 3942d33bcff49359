"""The model nl-large of discoparse: files, no code."""

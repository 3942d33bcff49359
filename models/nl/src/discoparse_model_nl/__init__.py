"""The model nl of discoparse: files, no code."""

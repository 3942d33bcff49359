"""Around the parser: what goes into it (passages of text) and what its decisions become (trees)."""

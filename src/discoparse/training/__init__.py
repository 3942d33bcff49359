"""Training: recipes as data, the loop, exploration, checkpoints."""

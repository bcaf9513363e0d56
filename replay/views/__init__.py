"""What post-mortem questions are asked of, worked out when they are asked; `catalog` has them all."""

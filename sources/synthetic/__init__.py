"""A synthetic cluster: seeded, of any size, made by Spark's own functions, and sure of its own truth."""

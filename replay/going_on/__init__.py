"""Going on from the last replay (docs/adr/0014): from where, with which rows, and whether it may be."""

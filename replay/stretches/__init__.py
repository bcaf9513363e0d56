"""Hot partitions in stretches (docs/adr/0015): which, cut where, replayed apart and made one again."""

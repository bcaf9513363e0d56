"""Brokers' clocks: what is certain of how far they are apart, and all times on one of them, and back."""

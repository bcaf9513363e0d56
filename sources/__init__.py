"""Adapters: each raw format of a broker's own files to landing rows, by Spark's own functions alone."""

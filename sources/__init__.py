"""Adapters: each raw format of a broker's own files to landing rows; large ones by Spark's own functions alone."""

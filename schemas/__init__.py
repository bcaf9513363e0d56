"""The words of the product: every column once, every table once, every closed vocabulary once. No session, no JVM."""

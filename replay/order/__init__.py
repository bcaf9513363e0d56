"""The order of a leadership's events: by its leader's clock, by what is certain, and by evidence."""

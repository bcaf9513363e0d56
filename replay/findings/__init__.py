"""`incidents`: what is found in the timelines, one finder a file; `incidents` puts all of them together."""

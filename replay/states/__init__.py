"""What each leader knew and each replica had after every event, and the rows that show it."""

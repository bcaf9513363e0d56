"""What happened: landed rows become events of one shape, each in the leadership it belongs to."""

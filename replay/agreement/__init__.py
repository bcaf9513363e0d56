"""Rebuilt against stated: the brokers' own DEBUG and TRACE words beside the timelines."""

"""A real Kafka cluster on loopback: started, loaded, broken in a named way, stopped, and captured."""

from __future__ import annotations

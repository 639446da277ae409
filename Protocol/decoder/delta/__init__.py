"""Deltas: `DELTA.md`."""

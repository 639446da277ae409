"""Segments: `COLUMNS.md` section 2."""

"""Segments: `COLUMNS.md`, "Segments and row groups"."""

"""Deflate streams made again: `DEFLATE.md`."""

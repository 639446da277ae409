"""SQLite's file format (sqlite.org/fileformat2.html, "FF"), and the canonical form of `CANONICAL.md`."""

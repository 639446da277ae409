"""The one way in which this package says that a file has no canonical form (section 1)."""

from __future__ import annotations


class NoCanonicalForm(Exception):
    """The text says why, for people."""

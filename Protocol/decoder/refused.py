"""The one way in which a decoder says no."""

from __future__ import annotations

CODES = {
    "version-not-supported", "unknown-frame", "protocol-violation", "feature-not-supported", "damaged",
    "bad-manifest", "bad-store", "wrong-model", "wrong-schema", "probe-failed", "too-large", "no-space",
    "cannot-install", "held", "rolled-back", "other-store", "missing-base", "busy", "timed-out", "stopped", "not-trusted", "bad-signature", "replayed",
}  # fmt: skip


class Refused(Exception):
    """`code` is one of section 7, `why` is for whoever reads a failed check."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"{code}: {why}")
        self.code = code

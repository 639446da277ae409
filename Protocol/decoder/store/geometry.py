"""Sections 4 and 5: which pages never hold content, and how much of a payload stays in its cell. Sizes in bytes."""

from __future__ import annotations

from dataclasses import dataclass

PENDING_BYTE = 2**30


@dataclass(frozen=True)
class Geometry:
    page_size: int
    reserved: int
    has_pointer_maps: bool

    @property
    def usable(self) -> int:
        return self.page_size - self.reserved

    @property
    def lock_page(self) -> int:
        return PENDING_BYTE // self.page_size + 1

    @property
    def map_distance(self) -> int:
        """*J*: from one pointer map page to the next."""
        return self.usable // 5 + 1

    def map_page(self, page: int) -> int:
        """The pointer map page that has, or would have, the entry of `page`; of a pointer map page itself."""
        regular = page - (page - 2) % self.map_distance
        return regular + 1 if regular == self.lock_page else regular

    def holds_content(self, page: int) -> bool:
        if page == self.lock_page:
            return False
        return page == 1 or not self.has_pointer_maps or page != self.map_page(page)

    def after(self, page: int) -> int:
        """The lowest page above `page` that may hold content."""
        page += 1
        while not self.holds_content(page):
            page += 1
        return page

    def kept(self, payload: int, is_table_leaf: bool) -> int:
        """*K*: how much of a payload is in its cell."""
        most = self.usable - 35 if is_table_leaf else (self.usable - 12) * 64 // 255 - 23
        if payload <= most:
            return payload
        least = (self.usable - 12) * 32 // 255 - 23
        kept = least + (payload - least) % (self.usable - 4)
        return kept if kept <= most else least

#pragma once

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/// mallopt(3), which Swift's own module of the C library leaves out.
static inline void ship_store_set_mmap_threshold(int size) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, size);
#else
    (void)size;
#endif
}

#pragma once

// What Swift cannot call for itself: system calls by number, and functions with variable arguments. No header of the platform
// comes with it, which would make its types this module's.

#include <stdint.h>

/// openat2(2), which glibc has no function for before 2.43: what is opened lies in `folder` or below it, and no component of
/// `path` is a symbolic link. Returns -1 with ENOSYS where there is no such call.
int ship_store_open_beneath(int folder, const char *path, int flags, uint64_t mode);

/// setrlimit(2) `RLIMIT_CORE`, and prctl(2) `PR_SET_DUMPABLE`, which holds for those that are piped to a program as well.
void ship_store_forbid_dumps(void);

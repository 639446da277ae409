#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#ifndef SYS_openat2
#define SYS_openat2 437  // the same on every architecture [include/uapi/asm-generic/unistd.h]
#endif
#endif

int ship_store_open_beneath(int folder, const char *path, int flags, uint64_t mode) {
#ifdef __linux__
    // `struct open_how`, and RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH [linux/openat2.h, which older headers lack].
    struct { uint64_t flags, mode, resolve; } how = {(uint64_t)(unsigned)flags, flags & O_CREAT ? mode : 0, 0x04 | 0x08};
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
#else
    (void)folder, (void)path, (void)flags, (void)mode;
    errno = ENOSYS;
    return -1;
#endif
}

void ship_store_forbid_dumps(void) {
    struct rlimit none = {0, 0};
    if (getrlimit(RLIMIT_CORE, &none) == 0) {
        none.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &none);
    }
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

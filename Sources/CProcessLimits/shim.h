#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

// setrlimit(2), whose first argument Swift sees as another type on each platform, and prctl(2), which is variadic.

/// Lowers a limit, and `slack` above that the most that it can be raised to; what is lower already stays.
static inline int ship_store_lower_limit(int resource, uint64_t most, uint64_t slack) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    if (limit.rlim_max > most + slack) limit.rlim_max = most + slack;
    if (limit.rlim_cur > most) limit.rlim_cur = most;
    return setrlimit(resource, &limit);
}

/// Bytes of address space that this process has mapped, or 0 where that cannot be told.
static inline uint64_t ship_store_mapped_bytes(void) {
#ifdef __linux__
    char text[32] = {0};
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    return count <= 0 ? 0 : strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
#else
    return 0;
#endif
}

/// Takes from this process, for good, what reading one file does not need.
///
/// - memory: bytes that it may take beside what it has now; where the platform does not say what that is, not limited.
/// - seconds: of CPU; SIGXCPU ends it then, and SIGALRM when it has slept for longer than that.
static inline int ship_store_confine_process(uint64_t memory, unsigned seconds, uint64_t descriptors) {
    uint64_t mapped = ship_store_mapped_bytes();
    int failed = 0;
    failed |= ship_store_lower_limit(RLIMIT_CORE, 0, 0);
    failed |= ship_store_lower_limit(RLIMIT_FSIZE, 0, 0);
    failed |= ship_store_lower_limit(RLIMIT_NOFILE, descriptors, 0);
    // Where both are equal it ends by SIGKILL, which says nothing.
    failed |= ship_store_lower_limit(RLIMIT_CPU, seconds, 1);
    if (mapped > 0) failed |= ship_store_lower_limit(RLIMIT_AS, mapped + memory, 0);
#ifdef __linux__
    failed |= prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    failed |= prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    alarm(seconds + 5);
    return failed;
}

#ifdef __linux__
#define _GNU_SOURCE  // pipe2, dl_iterate_phdr
#endif
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <sys/clonefile.h>
#include <sys/xattr.h>
#endif
#ifdef __linux__
#include <link.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#endif

int ship_store_clone(int source, int folder, const char *name) {
#ifdef __linux__
    int target = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (target < 0) return -1;
    // FICLONE is `_IOW(0x94, 9, int)` [linux/fs.h].
    int result = ioctl(target, _IOW(0x94, 9, int), source);
    if (result < 0) unlinkat(folder, name, 0);
    close(target);
    return result;
#elif defined(__APPLE__)
    // The clone has the mode of its source.
    if (fclonefileat(source, folder, name, 0) < 0) return -1;
    int result = fchmodat(folder, name, 0600, AT_SYMLINK_NOFOLLOW);
    if (result < 0) unlinkat(folder, name, 0);
    return result;
#else
    (void)source, (void)folder, (void)name;
    return -1;
#endif
}

int ship_store_is_open_once(int file) {
#ifdef __linux__
    // An overlay counts those that come through it apart, and others' file systems know nothing of each other's.
    struct statfs status;
    if (fstatfs(file, &status) != 0) return 0;
    switch ((uint32_t)status.f_type) {
    case 0x0000EF53u: // ext2, ext3, ext4
    case 0x58465342u: // XFS
    case 0x9123683Eu: // btrfs
    case 0xF2F52010u: // F2FS
    case 0x01021994u: // tmpfs
        break;
    default:
        return 0;
    }
    // The signal of a lease that is broken: SIGIO would end the process, and this one is passed over.
    if (fcntl(file, F_SETSIG, SIGURG) < 0 || fcntl(file, F_SETLEASE, F_WRLCK) < 0) return 0;
    return fcntl(file, F_SETLEASE, F_UNLCK) == 0;
#else
    (void)file;
    return 0;
#endif
}

int ship_store_rename_to_free_name(const char *from, const char *to) {
#if defined __linux__ && defined SYS_renameat2
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1);  // RENAME_NOREPLACE [linux/fs.h]
#elif defined __APPLE__
    extern int renamex_np(const char *, const char *, unsigned);
    return renamex_np(from, to, 0x4);  // RENAME_EXCL [sys/stdio.h]
#else
    (void)from, (void)to;
    errno = ENOSYS;
    return -1;
#endif
}

int64_t ship_store_list_attributes(const char *path, char *names, uint64_t size) {
#if defined __linux__
    return llistxattr(path, names, size);
#elif defined __APPLE__
    return listxattr(path, names, size, XATTR_NOFOLLOW);
#else
    (void)path, (void)names, (void)size;
    return 0;
#endif
}

int64_t ship_store_get_attribute(const char *path, const char *name, void *value, uint64_t size) {
#if defined __linux__
    return lgetxattr(path, name, value, size);
#elif defined __APPLE__
    return getxattr(path, name, value, size, 0, XATTR_NOFOLLOW);
#else
    (void)path, (void)name, (void)value, (void)size;
    errno = ENOTSUP;
    return -1;
#endif
}

int ship_store_set_attribute(int file, const char *name, const void *value, uint64_t size) {
#if defined __linux__
    return value ? fsetxattr(file, name, value, size, 0) : fremovexattr(file, name);
#elif defined __APPLE__
    return value ? fsetxattr(file, name, value, size, 0, 0) : fremovexattr(file, name, 0);
#else
    (void)file, (void)name, (void)value, (void)size;
    errno = ENOTSUP;
    return -1;
#endif
}

int ship_store_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends) != 0) return -1;
    for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

struct thread_start {
    void (*body)(void *context);
    void *context;
};

static void *run_thread(void *argument) {
    struct thread_start start = *(struct thread_start *)argument;
    free(argument);
    start.body(start.context);
    return NULL;
}

int ship_store_start_thread(void (*body)(void *context), void *context) {
    struct thread_start *start = malloc(sizeof *start);
    if (start == NULL) return ENOMEM;
    *start = (struct thread_start){body, context};
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error == 0) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_t thread;
        error = pthread_create(&thread, &attributes, run_thread, start);
        pthread_attr_destroy(&attributes);
    }
    if (error != 0) free(start);
    return error;
}

static void *pass(void *gate) {
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/// Systems give each user, and each service, some thousand threads.
enum { usual_threads = 1000 };

/// Whether the control group of this process, or one above it, may have few threads [cgroups(7)]. What is not there to be read limits nothing.
static int has_limited_group(void) {
    FILE *groups = fopen("/proc/self/cgroup", "re");
    if (groups == NULL) return 0;
    char line[4096], name[sizeof line + 64];
    int found = 0;
    while (!found && fgets(line, sizeof line, groups) != NULL) {
        char *hierarchy = strchr(line, ':'), *path = hierarchy ? strchr(hierarchy + 1, ':') : NULL;
        if (path == NULL) continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        if (hierarchy[1] != 0 && strcmp(hierarchy, ":pids") != 0) continue;
        const char *mount = hierarchy[1] == 0 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids";
        for (char *end = path + strlen(path); end != NULL && !found; end = strrchr(path, '/')) {
            *end = 0;
            snprintf(name, sizeof name, "%s%s/pids.max", mount, path);
            FILE *file = fopen(name, "re");
            long most;
            if (file == NULL) continue;
            found = fscanf(file, "%ld", &most) == 1 && most < usual_threads;
            fclose(file);
        }
    }
    fclose(groups);
    return found;
}

/// Whether somebody has set a limit on purpose.
static int is_limited(void) {
    static const struct { int resource; rlim_t least; } usual[] = {
        {RLIMIT_AS, RLIM_INFINITY}, {RLIMIT_DATA, RLIM_INFINITY}, {RLIMIT_NPROC, usual_threads}};
    struct rlimit limit;
    for (unsigned i = 0; i < sizeof usual / sizeof *usual; i++)
        if (getrlimit(usual[i].resource, &limit) == 0 && limit.rlim_cur < usual[i].least) return 1;
    return has_limited_group();
}

int ship_store_has_room(uint64_t bytes, unsigned threads) {
    if (!is_limited()) return 1;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *made = calloc(threads, sizeof *made);
    // None of these bytes is written to, so that no memory is taken.
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    unsigned count = 0;
    if (made != NULL && memory != MAP_FAILED) {
        pthread_mutex_lock(&gate);
        while (count < threads && pthread_create(&made[count], NULL, pass, &gate) == 0) count++;
        pthread_mutex_unlock(&gate);
        for (unsigned i = 0; i < count; i++) pthread_join(made[i], NULL);
    }
    if (memory != MAP_FAILED) munmap(memory, bytes);
    free(made);
    return count == threads;
}

int ship_store_tells_of_changes(const char *folder) {
#ifdef __linux__
    struct statfs status;
    if (statfs(folder, &status) != 0) return 0;
    switch ((uint32_t)status.f_type) {
    case 0x00006969u: // NFS
    case 0x0000517Bu: // SMB
    case 0xFE534D42u: // SMB 2
    case 0xFF534D42u: // CIFS
    case 0x01021997u: // 9P
    case 0x65735546u: // FUSE
    case 0x794C7630u: // overlay
    case 0x5346414Fu: // AFS
    case 0x00C36400u: // Ceph
        return 0;
    default:
        return 1;
    }
#else
    (void)folder;
    return 0;
#endif
}

int ship_store_is_in_memory(const char *folder) {
#ifdef __linux__
    struct statfs status;
    return statfs(folder, &status) == 0 && (uint32_t)status.f_type == 0x01021994u; // tmpfs
#else
    (void)folder;
    return 0;
#endif
}

/// Lowers a limit, and `slack` above that the most that it can be raised to; what is lower already stays.
static int lower_limit(int resource, uint64_t most, uint64_t slack) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0) return -1;
    if (limit.rlim_max > most + slack) limit.rlim_max = most + slack;
    if (limit.rlim_cur > most) limit.rlim_cur = most;
    return setrlimit(resource, &limit);
}

void ship_store_forbid_dumps(void) {
    struct rlimit limit;
    // The most that it can be raised to stays, for what this process starts.
    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &limit);
    }
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    // Swift's own backtracer would show memory, too, and waits forever where it may not look into this process.
    static const int crashes[] = {SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction action;
        if (sigaction(crashes[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) signal(crashes[i], SIG_DFL);
    }
}

/// Bytes of address space that this process has mapped, or 0 where that cannot be told.
static uint64_t mapped_bytes(void) {
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

int ship_store_confine_process(uint64_t memory, unsigned seconds, uint64_t descriptors) {
    uint64_t mapped = mapped_bytes();
    int failed = 0;
    failed |= lower_limit(RLIMIT_CORE, 0, 0);
    failed |= lower_limit(RLIMIT_FSIZE, 0, 0);
    failed |= lower_limit(RLIMIT_NOFILE, descriptors, 0);
    // Where both are equal it ends by SIGKILL, which says nothing.
    failed |= lower_limit(RLIMIT_CPU, seconds, 1);
    if (mapped > 0) failed |= lower_limit(RLIMIT_AS, mapped + memory, 0);
#ifdef __linux__
    failed |= prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    failed |= prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    alarm(seconds + 5);
    return failed;
}

int64_t ship_store_file_size_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > INT64_MAX) return INT64_MAX;
    return (int64_t)limit.rlim_cur;
}

int ship_store_is_signal_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

unsigned ship_store_terminal_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

#ifdef __linux__
static int unmap_first(struct dl_phdr_info *program, size_t size, void *unused) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)size, (void)unused;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        // What was written to, as the dynamic linker writes, is no longer the file's, and would be lost.
        if (program->dlpi_phdr[i].p_type != PT_LOAD || program->dlpi_phdr[i].p_flags & PF_W) continue;
        uintptr_t start = program->dlpi_addr + program->dlpi_phdr[i].p_vaddr;
        uintptr_t end = (start + program->dlpi_phdr[i].p_memsz) & ~(page - 1);
        start = (start + page - 1) & ~(page - 1);
        if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 1;  // the program itself comes first
}
#endif

void ship_store_unmap_program(void) {
#ifdef __linux__
    dl_iterate_phdr(unmap_first, NULL);
#endif
}

void ship_store_send_datagram(const char *path, const char *text) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path) return;
    memcpy(address.sun_path, path, length);
    if (*path == '@') address.sun_path[0] = 0;
    const int descriptor = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (descriptor < 0) return;
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    sendto(descriptor, text, strlen(text), MSG_DONTWAIT, (struct sockaddr *)&address,
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(descriptor);
}

void ship_store_set_mmap_threshold(int size) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, size);
    // Each heap reserves 64 MiB of addresses, whatever is in it.
    struct rlimit addresses;
    if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) mallopt(M_ARENA_MAX, 1);
#else
    (void)size;
#endif
}

#if defined __GLIBC__ || defined __APPLE__
static char *const *arguments;

/// Both give a program's arguments to its constructors [glibc's csu/libc-start.c; dyld].
__attribute__((constructor)) static void keep_arguments(int count, char *const *values) {
    (void)count;
    arguments = values;
}

char *const *ship_store_arguments(void) { return arguments; }
#else
char *const *ship_store_arguments(void) { return NULL; }
#endif

const char *ship_store_program(void) {
#ifdef __linux__
    return (const char *)getauxval(AT_EXECFN);
#elif defined __APPLE__
    static char path[1024];
    uint32_t size = sizeof path;
    return _NSGetExecutablePath(path, &size) == 0 ? path : NULL;
#else
    return NULL;
#endif
}

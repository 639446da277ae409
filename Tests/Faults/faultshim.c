// Counts the calls of a process that change a file system or send bytes, and kills or stops the process before the n-th of
// them, or lets the n-th fail. README.md beside this file says how to build and use it.
//
// Everything in here may run in any thread, in a signal handler and after fork(): no allocation, no stdio, no locks, and
// no calls through the functions that it replaces (system calls are made through glibc's own syscall()).

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;   // so far, in this process
static long fault_at;       // 0: never
static int fault_from;      // whether every later call fails as well
static int fault_errno;     // 0: kill or stop
static int fault_stops;
static int fault_skips;     // a sync says that it has worked, and has not
static int fault_comes_after;  // the call is made, and then fails
static int fault_shortens;  // it reads or writes half
static int knows_sites;
static uint64_t fault_site; // 0: any
static const char *only;    // names with commas between them, or NULL for every name but open-read
static const char *log_path;
static const char *kept_path;  // a folder
static int armed;
static atomic_long clock_looks;
static long clock_shift;    // seconds; 0: none
static long clock_from;     // the look at the clock from which on it is shifted
static long (*kernel)(long number, ...);  // glibc's syscall()

// What becomes of a call.
enum { GOES, FAILS, FAILS_AFTER, GOES_SHORT };

// These leave nothing behind, and are counted only where they are named, or all calls are.
static const char *const passive[] = {
    "open-read", "read", "pread", "recv", "recvfrom", "recvmsg", "mmap", "stat", "lstat", "fstatat", "flock", "lock", "fdopendir",
    "readdir", "socket", "connect", "accept4", "pipe2", "dup", "epoll_create1", "inotify_init1", "inotify_add_watch", "fgetxattr",
};

// What a call may fail with, by the name of the action.
static const struct { const char *name; int number; } errors[] = {
    {"eio", EIO},     {"enospc", ENOSPC}, {"enosys", ENOSYS}, {"eperm", EPERM},
    {"enotsup", ENOTSUP}, {"einval", EINVAL}, {"edquot", EDQUOT}, {"efbig", EFBIG},
    {"eintr", EINTR}, {"eagain", EAGAIN}, {"enomem", ENOMEM}, {"emfile", EMFILE}, {"enolck", ENOLCK}, {"erofs", EROFS},
    {"enobufs", ENOBUFS}, {"econnreset", ECONNRESET},
};

__attribute__((constructor(101))) static void configure(void)
{
    kernel = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    const char *program = getenv("SHIP_STORE_FAULT_PROGRAM");
    if (program && strcmp(program, program_invocation_short_name) != 0) return;
    const char *at = getenv("SHIP_STORE_FAULT_AT"), *action = getenv("SHIP_STORE_FAULT_ACTION");
    if (at) {
        char *rest;
        fault_at = strtol(at, &rest, 10);
        fault_from = *rest == '+';
    }
    fault_stops = action && !strcmp(action, "stop");
    fault_skips = action && !strcmp(action, "skip");
    fault_shortens = action && !strcmp(action, "short");
    if (fault_skips || fault_shortens) fault_errno = EIO;
    for (unsigned i = 0; action && i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(action, errors[i].name)) fault_errno = errors[i].number;
    const char *when = getenv("SHIP_STORE_FAULT_WHEN"), *site = getenv("SHIP_STORE_FAULT_SITE");
    fault_comes_after = when && !strcmp(when, "after");
    if (site) {
        void *first[1];
        // The first call loads a library.
        knows_sites = backtrace(first, 1) >= 0;
        fault_site = strtoull(site, NULL, 16);
    }
    only = getenv("SHIP_STORE_FAULT_ONLY");
    log_path = getenv("SHIP_STORE_FAULT_LOG");
    kept_path = getenv("SHIP_STORE_FAULT_KEPT");
    armed = fault_at > 0 || log_path || kept_path;
    const char *shift = getenv("SHIP_STORE_FAULT_CLOCK");
    if (shift) {
        char *rest;
        clock_shift = strtol(shift, &rest, 10);
        clock_from = *rest == '@' ? strtol(rest + 1, NULL, 10) : 1;
    }
}

static int is_selected(const char *name)
{
    size_t length = strlen(name);
    if (!only) {
        for (unsigned i = 0; i < sizeof passive / sizeof *passive; i++)
            if (!strcmp(name, passive[i])) return 0;
        return 1;
    }
    if (!strcmp(only, "all")) return 1;
    for (const char *at = only; *at; at += *at == ',') {
        size_t here = strcspn(at, ",");
        if (here == length && !memcmp(at, name, length)) return 1;
        at += here;
    }
    return 0;
}

static char *append(char *at, char *end, const char *text)
{
    while (*text && at < end) *at++ = *text++;
    return at;
}

static char *append_number(char *at, char *end, long number)
{
    char digits[24], *first = digits + sizeof digits - 1;
    *first = 0;
    do *--first = '0' + number % 10; while (number /= 10);
    return append(at, end, first);
}

// What is open, or a path, which begins in an open folder if it is relative.
static char *append_place(char *at, char *end, int descriptor, const char *path)
{
    static const char open_folders[] = "/proc/self/fd/";
    if (path && !strncmp(path, open_folders, sizeof open_folders - 1)) {
        char *rest;
        descriptor = (int)strtol(path + sizeof open_folders - 1, &rest, 10);
        path = *rest == '/' ? rest + 1 : NULL;
    }
    if (!path || (*path != '/' && descriptor != AT_FDCWD)) {
        char link[32], *stop = link + sizeof link - 1;
        *append_number(append(link, stop, "/proc/self/fd/"), stop, descriptor) = 0;
        long length = kernel(SYS_readlinkat, AT_FDCWD, link, at, end - at);
        if (length > 0) at += length;
        if (path) at = append(at, end, "/");
    }
    return path ? append(at, end, path) : at;
}

// A number for the functions that lead to a call; 0 where sites do not count. It is the same in each run where addresses are
// [setarch(8), -R].
static uint64_t site_of_call(void)
{
    static __thread int is_busy;
    if (!knows_sites || is_busy) return 0;
    void *frames[48];
    is_busy = 1;
    int count = backtrace(frames, sizeof frames / sizeof *frames);
    is_busy = 0;
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 2; i < count; i++) hash = (hash ^ (uint64_t)frames[i]) * 0x100000001b3;
    return hash | 1;
}

static char *append_site(char *at, char *end, uint64_t site)
{
    for (int shift = 60; shift >= 0 && at < end; shift -= 4) *at++ = "0123456789abcdef"[site >> shift & 15];
    return at;
}

// One line, `n name path[ -> path]`, in one write. The file is opened each time: a descriptor that stays open would be
// closed, or taken for another, by a program that tidies up its descriptors.
static void trace(long number, uint64_t site, const char *name, int descriptor, const char *path, int to_folder, const char *to)
{
    char line[2 * PATH_MAX + 64], *end = line + sizeof line - 1, *at = append_number(line, end, number);
    if (site) at = append_site(append(at, end, " "), end, site);
    at = append(append(append(at, end, " "), end, name), end, " ");
    at = append_place(at, end, descriptor, path);
    if (to) at = append_place(append(at, end, " -> "), end, to_folder, to);
    *at++ = '\n';
    long log = kernel(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) return;
    kernel(SYS_write, log, line, at - line);
    kernel(SYS_close, log);
}

// Counts a call. Returns what becomes of it, with errno set; does not return where the process is to end here.
static int fault_between(const char *name, int descriptor, const char *path, int to_folder, const char *to)
{
    if (!armed || !is_selected(name)) return GOES;
    int saved = errno;
    uint64_t site = site_of_call();
    errno = saved;
    if (fault_site && site != fault_site) return GOES;
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (log_path) trace(number, site, name, descriptor, path, to_folder, to);
    errno = saved;
    if (!fault_at || (fault_from ? number < fault_at : number != fault_at)) return GOES;
    if (fault_stops) {
        // To this very thread: another one might take its time to see it, and this one would go on meanwhile.
        kernel(SYS_tgkill, (long)getpid(), kernel(SYS_gettid), (long)SIGSTOP);
        return GOES;
    }
    if (!fault_errno)
        for (;;) kernel(SYS_kill, (long)getpid(), (long)SIGKILL);
    if (fault_shortens) return GOES_SHORT;
    errno = fault_errno;
    return fault_comes_after ? FAILS_AFTER : FAILS;
}

static int fault(const char *name, int descriptor, const char *path, const char *to)
{
    return fault_between(name, descriptor, path, AT_FDCWD, to);
}

// A call on a descriptor. Left out are the standard error stream, and what is neither a file nor a stream: event loops
// wake each other through eventfd(2), as often as timing has it.
static int fault_on(const char *name, int descriptor)
{
    struct stat status;
    if (!armed || descriptor == STDERR_FILENO) return GOES;
    int saved = errno, known = fstat(descriptor, &status) == 0;
    errno = saved;
    return known && (status.st_mode & S_IFMT) ? fault(name, descriptor, NULL, NULL) : GOES;
}

// What a sync has put on the medium: a copy of the file's bytes, or of the folder's entries as getdents64(2) gives them, named
// `NANOSECONDS-DEVICE-INODE.file` or `.folder`. It reads through the program's own descriptor: closing another one would drop its
// locks [fcntl_locking(2)].
static void keep(int descriptor)
{
    struct stat status;
    struct timespec now;
    if (!kept_path || fstat(descriptor, &status)) return;
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    char path[PATH_MAX], *end = path + sizeof path - 1, *at = append(append(path, end, kept_path), end, "/");
    at = append(append_number(at, end, now.tv_sec * 1000000000 + now.tv_nsec), end, "-");
    at = append(append_number(at, end, (long)status.st_dev), end, "-");
    at = append_number(at, end, (long)status.st_ino);
    *append(at, end, S_ISDIR(status.st_mode) ? ".folder" : ".file") = 0;
    char piece[32768];
    long copy = kernel(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), length, offset = 0;
    if (S_ISDIR(status.st_mode)) {
        long folder = kernel(SYS_openat, descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        while ((length = kernel(SYS_getdents64, folder, piece, sizeof piece)) > 0) kernel(SYS_write, copy, piece, length);
        kernel(SYS_close, folder);
    } else {
        for (; (length = kernel(SYS_pread64, descriptor, piece, sizeof piece, offset)) > 0; offset += length)
            kernel(SYS_write, copy, piece, length);
    }
    kernel(SYS_close, copy);
}

// Whether open() with these flags may make a file, and so takes a mode.
static int makes_file(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

static int fault_opening_in(int folder, const char *path, int flags)
{
    return fault(makes_file(flags) || flags & O_TRUNC ? "open" : "open-read", folder, path, NULL);
}

static int fault_opening(const char *path, int flags)
{
    return fault_opening_in(AT_FDCWD, path, flags);
}

static int fault_stdio(const char *path, const char *mode)
{
    return fault_opening(path, strpbrk(mode, "wa") ? O_CREAT : 0);
}

// Stands in for a function: `failed` where `check` says so, else what the next library's function of that name gives.
// Looked up at load; once more where another library's constructor comes before.
#define REPLACE(type, name, params, args, check, failed) REPLACE_ALL(type, name, params, args, check, failed, (void)0, (void)0)
#define REPLACE_THEN(type, name, params, args, check, failed, after_success)      \
    REPLACE_ALL(type, name, params, args, check, failed, (void)0, after_success)
#define REPLACE_ALL(type, name, params, args, check, failed, shorten, after_success) \
    static type(*next_##name) params;                                             \
    __attribute__((constructor(102))) static void find_##name(void)               \
    {                                                                             \
        next_##name = (type(*) params)dlsym(RTLD_NEXT, #name);                    \
    }                                                                             \
    type name params                                                              \
    {                                                                             \
        if (!next_##name) find_##name();                                          \
        int fate = check;                                                          \
        if (fate == FAILS) return (type)failed;                                    \
        if (fate == GOES_SHORT) shorten;                                           \
        type result = next_##name args;                                           \
        if (fate == FAILS_AFTER) {                                                 \
            errno = fault_errno;                                                  \
            return (type)failed;                                                  \
        }                                                                         \
        if (!result) after_success;                                               \
        return result;                                                            \
    }
#define ON_PATH(name, params, args, path, to) REPLACE(int, name, params, args, fault(#name, AT_FDCWD, path, to), -1)
#define IN_FOLDER(name, params, args, folder, path, to_folder, to) \
    REPLACE(int, name, params, args, fault_between(#name, folder, path, to_folder, to), -1)
#define ON_FILE(type, name, as, params, args) REPLACE(type, name, params, args, fault_on(as, fd), -1)
// One that may do a part of what it is asked for: half of `n` bytes.
#define ON_BYTES(name, as, params, args) \
    REPLACE_ALL(ssize_t, name, params, args, fault_on(as, fd), -1, n -= n / 2, (void)0)

ON_PATH(rename, (const char *a, const char *b), (a, b), a, b)
IN_FOLDER(renameat, (int d, const char *a, int e, const char *b), (d, a, e, b), d, a, e, b)
IN_FOLDER(renameat2, (int d, const char *a, int e, const char *b, unsigned f), (d, a, e, b, f), d, a, e, b)
ON_PATH(link, (const char *a, const char *b), (a, b), a, b)
IN_FOLDER(linkat, (int d, const char *a, int e, const char *b, int f), (d, a, e, b, f), d, a, e, b)
ON_PATH(symlink, (const char *a, const char *b), (a, b), a, b)
IN_FOLDER(symlinkat, (const char *a, int d, const char *b), (a, d, b), AT_FDCWD, a, d, b)
ON_PATH(unlink, (const char *a), (a), a, NULL)
IN_FOLDER(unlinkat, (int d, const char *a, int f), (d, a, f), d, a, AT_FDCWD, NULL)
ON_PATH(remove, (const char *a), (a), a, NULL)
ON_PATH(mkdir, (const char *a, mode_t m), (a, m), a, NULL)
IN_FOLDER(mkdirat, (int d, const char *a, mode_t m), (d, a, m), d, a, AT_FDCWD, NULL)
ON_PATH(rmdir, (const char *a), (a), a, NULL)
ON_PATH(chmod, (const char *a, mode_t m), (a, m), a, NULL)
IN_FOLDER(fchmodat, (int d, const char *a, mode_t m, int f), (d, a, m, f), d, a, AT_FDCWD, NULL)
ON_PATH(chown, (const char *a, uid_t u, gid_t g), (a, u, g), a, NULL)
ON_PATH(truncate, (const char *a, off_t n), (a, n), a, NULL)
IN_FOLDER(utimensat, (int d, const char *a, const struct timespec t[2], int f), (d, a, t, f), d, a, AT_FDCWD, NULL)
ON_PATH(mkstemp, (char *a), (a), a, NULL)
ON_PATH(mkostemp, (char *a, int f), (a, f), a, NULL)
REPLACE(int, mkstemp64, (char *a), (a), fault("mkstemp", -1, a, NULL), -1)
REPLACE(int, mkostemp64, (char *a, int f), (a, f), fault("mkostemp", -1, a, NULL), -1)
REPLACE(int, creat, (const char *a, mode_t m), (a, m), fault_opening(a, O_CREAT), -1)
REPLACE(int, creat64, (const char *a, mode_t m), (a, m), fault_opening(a, O_CREAT), -1)
REPLACE(char *, mkdtemp, (char *a), (a), fault("mkdtemp", -1, a, NULL), NULL)
REPLACE(FILE *, fopen, (const char *a, const char *m), (a, m), fault_stdio(a, m), NULL)
REPLACE(FILE *, fopen64, (const char *a, const char *m), (a, m), fault_stdio(a, m), NULL)

ON_BYTES(write, "write", (int fd, const void *p, size_t n), (fd, p, n))
ON_BYTES(pwrite, "pwrite", (int fd, const void *p, size_t n, off_t o), (fd, p, n, o))
ON_BYTES(pwrite64, "pwrite", (int fd, const void *p, size_t n, off64_t o), (fd, p, n, o))
ON_FILE(ssize_t, writev, "writev", (int fd, const struct iovec *v, int n), (fd, v, n))
ON_FILE(ssize_t, pwritev, "pwritev", (int fd, const struct iovec *v, int n, off_t o), (fd, v, n, o))
ON_FILE(ssize_t, pwritev64, "pwritev", (int fd, const struct iovec *v, int n, off64_t o), (fd, v, n, o))
ON_FILE(ssize_t, sendfile, "sendfile", (int fd, int in, off_t *o, size_t n), (fd, in, o, n))
ON_FILE(ssize_t, sendfile64, "sendfile", (int fd, int in, off64_t *o, size_t n), (fd, in, o, n))
ON_FILE(ssize_t, copy_file_range, "copy_file_range",
        (int in, off64_t *i, int fd, off64_t *o, size_t n, unsigned f), (in, i, fd, o, n, f))
ON_BYTES(send, "send", (int fd, const void *p, size_t n, int f), (fd, p, n, f))
ON_BYTES(sendto, "sendto",
        (int fd, const void *p, size_t n, int f, const struct sockaddr *a, socklen_t l), (fd, p, n, f, a, l))
ON_FILE(ssize_t, sendmsg, "sendmsg", (int fd, const struct msghdr *m, int f), (fd, m, f))
ON_FILE(int, sendmmsg, "sendmmsg", (int fd, struct mmsghdr *m, unsigned n, int f), (fd, m, n, f))
ON_FILE(int, shutdown, "shutdown", (int fd, int how), (fd, how))
REPLACE_THEN(int, fsync, (int fd), (fd), fault_on("fsync", fd), fault_skips - 1, keep(fd))
REPLACE_THEN(int, fdatasync, (int fd), (fd), fault_on("fdatasync", fd), fault_skips - 1, keep(fd))
ON_FILE(int, syncfs, "syncfs", (int fd), (fd))
ON_FILE(int, fchmod, "fchmod", (int fd, mode_t m), (fd, m))
ON_FILE(int, fsetxattr, "fsetxattr", (int fd, const char *a, const void *p, size_t n, int f), (fd, a, p, n, f))
ON_FILE(int, fchown, "fchown", (int fd, uid_t u, gid_t g), (fd, u, g))
ON_FILE(int, ftruncate, "ftruncate", (int fd, off_t n), (fd, n))
ON_FILE(int, ftruncate64, "ftruncate", (int fd, off64_t n), (fd, n))
ON_FILE(int, fallocate, "fallocate", (int fd, int m, off_t o, off_t n), (fd, m, o, n))
ON_FILE(int, fallocate64, "fallocate", (int fd, int m, off64_t o, off64_t n), (fd, m, o, n))
ON_FILE(int, futimens, "futimens", (int fd, const struct timespec t[2]), (fd, t))

// What reads, waits or only asks.
ON_BYTES(read, "read", (int fd, void *p, size_t n), (fd, p, n))
ON_BYTES(pread, "pread", (int fd, void *p, size_t n, off_t o), (fd, p, n, o))
ON_BYTES(pread64, "pread", (int fd, void *p, size_t n, off64_t o), (fd, p, n, o))
ON_BYTES(recv, "recv", (int fd, void *p, size_t n, int f), (fd, p, n, f))
ON_BYTES(recvfrom, "recvfrom", (int fd, void *p, size_t n, int f, struct sockaddr *a, socklen_t *l), (fd, p, n, f, a, l))
ON_FILE(ssize_t, recvmsg, "recvmsg", (int fd, struct msghdr *m, int f), (fd, m, f))
ON_FILE(int, flock, "flock", (int fd, int how_to), (fd, how_to))
ON_FILE(int, accept4, "accept4", (int fd, struct sockaddr *a, socklen_t *l, int f), (fd, a, l, f))
ON_FILE(int, connect, "connect", (int fd, const struct sockaddr *a, socklen_t l), (fd, a, l))
ON_FILE(int, dup, "dup", (int fd), (fd))
ON_FILE(ssize_t, fgetxattr, "fgetxattr", (int fd, const char *a, void *p, size_t n), (fd, a, p, n))
REPLACE(DIR *, fdopendir, (int fd), (fd), fault_on("fdopendir", fd), NULL)
REPLACE(struct dirent *, readdir, (DIR *d), (d), fault_on("readdir", dirfd(d)), NULL)
REPLACE(struct dirent64 *, readdir64, (DIR *d), (d), fault_on("readdir", dirfd(d)), NULL)
REPLACE(int, socket, (int d, int t, int p), (d, t, p), fault("socket", -1, "", NULL), -1)
REPLACE(int, pipe2, (int d[2], int f), (d, f), fault("pipe2", -1, "", NULL), -1)
REPLACE(int, epoll_create1, (int f), (f), fault("epoll_create1", -1, "", NULL), -1)
REPLACE(int, inotify_init1, (int f), (f), fault("inotify_init1", -1, "", NULL), -1)
REPLACE(int, inotify_add_watch, (int d, const char *a, uint32_t m), (d, a, m), fault("inotify_add_watch", AT_FDCWD, a, NULL), -1)
ON_PATH(stat, (const char *a, struct stat *s), (a, s), a, NULL)
ON_PATH(lstat, (const char *a, struct stat *s), (a, s), a, NULL)
IN_FOLDER(fstatat, (int d, const char *a, struct stat *s, int f), (d, a, s, f), d, a, AT_FDCWD, NULL)
// Memory without a file is what an allocator takes.
REPLACE(void *, mmap, (void *p, size_t n, int m, int f, int fd, off_t o), (p, n, m, f, fd, o), fd < 0 ? GOES : fault_on("mmap", fd), -1)
REPLACE(void *, mmap64, (void *p, size_t n, int m, int f, int fd, off64_t o), (p, n, m, f, fd, o), fd < 0 ? GOES : fault_on("mmap", fd), -1)

// Of what fcntl() does, a lock that is taken.
#define REPLACE_FCNTL(name)                                                        \
    static int (*next_##name)(int fd, int command, ...);                           \
    __attribute__((constructor(102))) static void find_##name(void)                \
    {                                                                              \
        next_##name = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name);             \
    }                                                                              \
    int name(int fd, int command, ...)                                             \
    {                                                                              \
        va_list list;                                                              \
        va_start(list, command);                                                   \
        void *argument = va_arg(list, void *);                                     \
        va_end(list);                                                              \
        if (!next_##name) find_##name();                                           \
        int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW; \
        if (locks && ((struct flock *)argument)->l_type != F_UNLCK && fault_on("lock", fd) == FAILS) return -1; \
        return next_##name(fd, command, argument);                                 \
    }
REPLACE_FCNTL(fcntl)
REPLACE_FCNTL(fcntl64)

// open() and its like take the mode as a variable argument.
#define REPLACE_OPEN(name, folder, params, args)                                   \
    static int (*next_##name)(params, ...);                                        \
    __attribute__((constructor(102))) static void find_##name(void)                \
    {                                                                              \
        next_##name = (int (*)(params, ...))dlsym(RTLD_NEXT, #name);               \
    }                                                                              \
    int name(params, ...)                                                          \
    {                                                                              \
        va_list list;                                                              \
        va_start(list, flags);                                                     \
        mode_t mode = makes_file(flags) ? va_arg(list, mode_t) : 0;                \
        va_end(list);                                                              \
        if (!next_##name) find_##name();                                           \
        return fault_opening_in(folder, path, flags) == FAILS ? -1 : next_##name(args, mode); \
    }
#define AND ,
REPLACE_OPEN(open, AT_FDCWD, const char *path AND int flags, path AND flags)
REPLACE_OPEN(open64, AT_FDCWD, const char *path AND int flags, path AND flags)
REPLACE_OPEN(openat, folder, int folder AND const char *path AND int flags, folder AND path AND flags)
REPLACE_OPEN(openat64, folder, int folder AND const char *path AND int flags, folder AND path AND flags)
// What _FORTIFY_SOURCE makes of open() without a mode.
REPLACE(int, __open_2, (const char *path, int flags), (path, flags), fault_opening(path, flags), -1)
REPLACE(int, __open64_2, (const char *path, int flags), (path, flags), fault_opening(path, flags), -1)

// The clock of the wall, which somebody may set. The kernel's own, which gives files their times, stays as it is.
static time_t shift_of_clock(void)
{
    return clock_shift && atomic_fetch_add(&clock_looks, 1) + 1 >= clock_from ? clock_shift : 0;
}
REPLACE_THEN(int, clock_gettime, (clockid_t which, struct timespec *now), (which, now), GOES, -1,
             if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE) now->tv_sec += shift_of_clock())
REPLACE_THEN(int, gettimeofday, (struct timeval *restrict now, void *restrict zone), (now, zone), GOES, -1, now->tv_sec += shift_of_clock())
time_t time(time_t *copy)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (copy) *copy = now.tv_sec;
    return now.tv_sec;
}

// The calls that programs make by number, for want of a wrapper in older libraries.
long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (!kernel) kernel = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    int fate = GOES;
    switch (number) {
    case SYS_renameat: fate = fault_between("renameat", (int)a[0], (char *)a[1], (int)a[2], (char *)a[3]); break;
    case SYS_renameat2: fate = fault_between("renameat2", (int)a[0], (char *)a[1], (int)a[2], (char *)a[3]); break;
    case SYS_linkat: fate = fault_between("linkat", (int)a[0], (char *)a[1], (int)a[2], (char *)a[3]); break;
    case SYS_unlinkat: fate = fault("unlinkat", (int)a[0], (const char *)a[1], NULL); break;
    case SYS_openat: fate = fault_opening_in((int)a[0], (const char *)a[1], (int)a[2]); break;
    // `struct open_how` begins with the flags, in 64 bits [openat2(2)].
    case 437: fate = fault_opening_in((int)a[0], (const char *)a[1], (int)*(uint64_t *)a[2]); break;
    case SYS_write: fate = fault_on("write", (int)a[0]); break;
    case SYS_fsync: fate = fault_on("fsync", (int)a[0]); break;
    case SYS_fdatasync: fate = fault_on("fdatasync", (int)a[0]); break;
    case SYS_copy_file_range: fate = fault_on("copy_file_range", (int)a[2]); break;
    }
    long result = fate == FAILS ? -1 : kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (fate == FAILS_AFTER) {
        errno = fault_errno;
        return -1;
    }
    if (!result && (number == SYS_fsync || number == SYS_fdatasync)) keep((int)a[0]);
    return result;
}

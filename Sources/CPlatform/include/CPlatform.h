#pragma once

// What Swift cannot call for itself: system calls by number, functions with variable arguments or with arguments of other
// types on each platform, and what the platform's own module leaves out. No header of the platform comes with it, which
// would make its types this module's.

#include <stdint.h>

/// renameat2(2) with RENAME_NOREPLACE, or renamex_np(2) with RENAME_EXCL: fails with EEXIST if anything has the new name.
/// Returns -1 with ENOSYS, EINVAL or ENOTSUP where the system or the file system cannot do that.
int ship_store_rename_to_free_name(const char *from, const char *to);

/// ioctl(2) `FICLONE`, or fclonefileat(2): makes the file `name` in `folder`, which must not be there yet, of the same blocks as the open
/// file `source`: nothing is copied until one of the two changes. Returns -1 where the file system does not do that.
int ship_store_clone(int source, int folder, const char *name);

/// fcntl(2) `F_SETLEASE`: whether no other descriptor, and no map, is of the file that is open for writing. Returns 0 where that is not so,
/// or the system does not tell.
int ship_store_is_open_once(int file);

/// llistxattr(2): the names of a file's extended attributes, each with a NUL at its end. Returns their length, or -1; with `size` 0 only
/// the length.
int64_t ship_store_list_attributes(const char *path, char *names, uint64_t size);

/// lgetxattr(2): returns the length of the value, or -1; with `size` 0 only the length.
int64_t ship_store_get_attribute(const char *path, const char *name, void *value, uint64_t size);

/// fsetxattr(2); fremovexattr(2) without a value. Returns -1 and sets errno if it fails.
int ship_store_set_attribute(int file, const char *name, const void *value, uint64_t size);

/// pipe2(2) with O_CLOEXEC, or pipe(2) and fcntl(2) where there is no such call. Returns -1 and sets errno if it fails.
int ship_store_pipe(int ends[2]);

/// pthread_create(3): runs `body` in a detached thread of its own, which needs no thread of a pool, and nothing that watches over one.
/// Returns 0, or an error number.
int ship_store_start_thread(void (*body)(void *context), void *context);

/// mmap(2), pthread_create(3): whether this process may have that many more bytes of memory, and beside them that many more threads at once,
/// which is tried where getrlimit(2) has a limit on addresses, data or processes.
int ship_store_has_room(uint64_t bytes, unsigned threads);

/// inotify(7) on the file system of `folder`, by statfs(2): whether it tells what every writer does. File systems of a network, of user
/// space and of layers do not. Returns 0 where that is not so, or cannot be told.
int ship_store_tells_of_changes(const char *folder);

/// statfs(2): whether the files of `folder` are in RAM. Returns 0 where that is not so, or cannot be told.
int ship_store_is_in_memory(const char *folder);

/// setrlimit(2) `RLIMIT_CORE`, and prctl(2) `PR_SET_DUMPABLE`, which holds for those that are piped to a program as well; and
/// no handlers for the signals of a crash.
void ship_store_forbid_dumps(void);

/// Takes from this process, for good, what reading one file does not need. Returns 0 if all of it could be taken.
///
/// - memory: bytes that it may take beside what it has now; where the platform does not say what that is, not limited.
/// - seconds: of CPU; SIGXCPU ends it then, and SIGALRM when it has slept for longer than that.
int ship_store_confine_process(uint64_t memory, unsigned seconds, uint64_t descriptors);

/// getrlimit(2) `RLIMIT_FSIZE`: the most bytes that a file may get by this process; INT64_MAX for no limit.
int64_t ship_store_file_size_limit(void);

/// Whether a signal is passed over, as nohup(1) has it be: not 0 if so.
int ship_store_is_signal_ignored(int signal);

/// ioctl(2) `TIOCGWINSZ`: columns of a terminal, or 0 where that cannot be told.
unsigned ship_store_terminal_columns(int descriptor);

/// madvise(2) `MADV_DONTNEED` for the segments of the program's file that cannot be written to, on Linux: what is used again is
/// mapped again.
void ship_store_unmap_program(void);

/// The arguments of this program, as bytes, with a null pointer behind the last one; null where that cannot be told.
///
/// Swift's own `CommandLine` reads them from /proc/self/cmdline, and without /proc takes them for none.
char *const *ship_store_arguments(void);

/// getauxval(3) `AT_EXECFN`, or _NSGetExecutablePath(3): the path with which this program was started; null if that cannot be told.
const char *ship_store_program(void);

/// Sends one datagram to a Unix socket, or to an abstract one where the path begins with @, and waits for nothing [unix(7)].
void ship_store_send_datagram(const char *path, const char *text);

/// mallopt(3) `M_MMAP_THRESHOLD`, where there is such a thing; and one heap for all threads where addresses are limited.
void ship_store_set_mmap_threshold(int size);

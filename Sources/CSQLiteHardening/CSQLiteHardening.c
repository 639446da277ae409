#include "CSQLiteHardening.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

static int take_literally(sqlite3_vfs *vfs, const char *path, int size, char *out)
{
    (void)vfs;
    size_t length = strlen(path);
    if (size < 1 || length >= (size_t)size) return SQLITE_CANTOPEN;
    memcpy(out, path, length + 1);
    return SQLITE_OK;
}

static sqlite3_vfs literal_paths;

static void register_literal_paths(void)
{
    // What finds and registers takes SQLite's own lock.
    sqlite3_vfs *original = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
    if (!original) return;
    literal_paths = *original;
    literal_paths.pNext = NULL;
    literal_paths.xFullPathname = take_literally;
    literal_paths.zName = "ship-store-literal";
    if (sqlite3_vfs_register(&literal_paths, 0) != SQLITE_OK) literal_paths.zName = NULL;
}

const char *ship_store_literal_paths(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_literal_paths);
    return literal_paths.zName;
}

static int open_at_once(const char *path, int flags, int mode)
{
    int file = open(path, flags | O_NONBLOCK, mode);
    // Another program has a lease, which only a regular file has, and gives it back [fcntl(2)].
    return file < 0 && errno == EWOULDBLOCK ? open(path, flags, mode) : file;
}

void ship_store_open_at_once(void)
{
    sqlite3_vfs *vfs = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
    if (vfs && vfs->iVersion >= 3 && vfs->xSetSystemCall)
        vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_at_once);
}

static int last_errno(sqlite3 *database, int which)
{
    sqlite3_file *file = NULL;
    int number = 0;
    if (sqlite3_file_control(database, "main", which, &file) != SQLITE_OK || !file || !file->pMethods) return 0;
    return file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK ? number : 0;
}

int ship_store_last_refusal(sqlite3 *database)
{
    int number = last_errno(database, SQLITE_FCNTL_FILE_POINTER);
    return number ? number : last_errno(database, SQLITE_FCNTL_JOURNAL_POINTER);
}

#include "CSQLiteHardening.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The lock of whoever writes to the log, and the first of those that a reader holds [sqlite.org/walformat.html section 2.3.1].
#define WRITE_LOCK 0
#define READ_LOCK 3
// Two copies of 48 bytes at the beginning of the index; the checksum is over the first 40 [section 2.1, wal.c].
#define HEADER_WORDS 12
#define CHECKED_WORDS 10
#define IS_MADE_AT 12
#define REGION_SIZE 32768
// SQLite pauses between two looks, from the tenth on for longer each time: together these take about half a second.
#define MOST_LOOKS 40

typedef struct {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    int looks;
} spared_writers;

static int is_valid(const uint32_t *header)
{
    uint32_t first = 0, second = 0;
    for (int i = 0; i < CHECKED_WORDS; i += 2) {
        first += header[i] + second;
        second += header[i + 1] + first;
    }
    return ((const uint8_t *)header)[IS_MADE_AT] != 0 && first == header[CHECKED_WORDS]
        && second == header[CHECKED_WORDS + 1];
}

/// Whether somebody writes the header, or has written it by now. If not, it has to be made from the log.
static int is_written(sqlite3_file *file, const sqlite3_io_methods *original)
{
    void volatile *index = NULL;
    uint32_t copies[2][HEADER_WORDS];
    if (original->xShmMap(file, 0, REGION_SIZE, 0, &index) != SQLITE_OK || !index) return 0;
    memcpy(copies[0], (const void *)index, sizeof copies[0]);
    original->xShmBarrier(file);
    memcpy(copies[1], (const uint8_t *)index + sizeof copies[0], sizeof copies[1]);
    return memcmp(copies[0], copies[1], sizeof copies[0]) != 0 || is_valid(copies[0]);
}

static int lock_index(sqlite3_file *file, int offset, int count, int flags)
{
    spared_writers *own = (spared_writers *)file->pMethods;
    if (offset == WRITE_LOCK && flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE)) {
        if (own->looks < MOST_LOOKS && is_written(file, own->original)) {
            own->looks += 1;
            return SQLITE_BUSY;
        }
    } else if (offset >= READ_LOCK) {
        own->looks = 0;
    }
    return own->original->xShmLock(file, offset, count, flags);
}

static int close_file(sqlite3_file *file)
{
    spared_writers *own = (spared_writers *)file->pMethods;
    file->pMethods = own->original;
    free(own);
    return file->pMethods->xClose(file);
}

int ship_store_spare_writers(sqlite3 *database)
{
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK) return code;
    const sqlite3_io_methods *original = file ? file->pMethods : NULL;
    if (!original || original->iVersion < 2 || !original->xShmLock || !original->xShmMap || !original->xShmBarrier) {
        return SQLITE_OK;
    }
    spared_writers *own = malloc(sizeof *own);
    if (!own) return SQLITE_NOMEM;
    memset(own, 0, sizeof *own);
    // A method that this header does not know would not be copied.
    own->methods = *original;
    if (own->methods.iVersion > 3) own->methods.iVersion = 3;
    own->methods.xShmLock = lock_index;
    own->methods.xClose = close_file;
    own->original = original;
    file->pMethods = &own->methods;
    return SQLITE_OK;
}

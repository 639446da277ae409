#pragma once

#include <sqlite3.h>

// sqlite3_db_config is variadic, which Swift cannot call.
static inline int ship_store_set_db_config(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}

/// The name of SQLite's own way to files, except that it takes a path as it is. Otherwise SQLite looks up where the
/// symbolic links in a path lead, and opens what it finds there: a path below `/proc/self/fd/N` would be that of the folder
/// by then, which others may have changed [os_unix.c, unixFullPathname].
///
/// It is registered with the first call, which returns NULL if it cannot be.
const char *ship_store_literal_paths(void);

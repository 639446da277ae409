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

/// Lets SQLite's calls of open(2), in all of this process, wait for nobody: a named pipe in the place of a store, or in that of its journal or
/// log, would wait for another program. For programs: an app has a SQLite of its own mind.
void ship_store_open_at_once(void);

/// The errno of the last call on the file of a store, or on its journal or log, that the system refused this connection; 0 if none is known.
/// SQLite says SQLITE_CORRUPT to some errors of a read, such as EIO, and its own check of a store takes every page that it does not get
/// for a damaged one [os_unix.c, unixRead; vdbe.c, abort_due_to_error; btree.c, checkTreePage].
int ship_store_last_refusal(sqlite3 *database);

/// Keeps a connection that only reads from taking the lock of writers where it need not. SQLite takes it for a moment where a reader meets
/// the header of a log's index half written, and a writer that does not wait gets SQLITE_BUSY then [wal.c, walIndexReadHdr]. This
/// connection looks again instead, and takes the lock only where the index has to be made from the log.
///
/// Call it once, right after the connection has been opened.
int ship_store_spare_writers(sqlite3 *database);

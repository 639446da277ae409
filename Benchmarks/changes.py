"""What becomes of a phone's store between two shipments. The same change of the same store gives the same rows."""
import sqlite3

from words import Words

NOTHING, METADATA, ONE_ROW = "nothing", "only metadata", "one row"
META = "season=winter"


def some(one_in, which):
    """As good as drawn by chance, of rows with a number."""
    return f"(id * 2654435761 >> 8) % {one_in} = {which}"


def one_row(store):
    [(middle,)] = store.execute("SELECT id FROM note ORDER BY id LIMIT 1 OFFSET (SELECT count(*) / 2 FROM note)")
    store.execute("UPDATE note SET body = body || ' And one more sentence.', changed = changed + 60 WHERE id = ?", (middle,))


def updated(store):
    store.execute(f"UPDATE reading SET value = value + 1 WHERE {some(100, 7)}")
    store.execute(f"UPDATE message SET is_read = 1 - is_read, body = body || ' (edited)' WHERE {some(100, 7)}")
    store.execute(f"UPDATE note SET changed = changed + 60, body = 'Edited: ' || body WHERE {some(100, 7)}")


def appended(store):
    """Rows as there are some, with keys, times and pictures of their own; their texts begin where those stop in the midst."""
    words, later = Words(2), 40_000_000

    def turned(text):
        middle = len(text) // 2
        return text[middle:] + text[:middle]

    store.create_function("key", 0, words.uuid)
    store.create_function("turned", 1, turned, deterministic=True)
    store.create_function("picture", 1, lambda size: words.picture(size - 10))
    store.execute(f"""INSERT INTO reading SELECT NULL, key(), kind, began + {later}, ended + {later}, round(value * 1.07, 1), device
        FROM reading WHERE {some(10, 3)}""")
    store.execute(f"""INSERT INTO message SELECT NULL, key(), room, author, turned(body), sent + {later}, 0, answers
        FROM message WHERE {some(10, 3)}""")
    store.execute(f"""INSERT INTO note SELECT NULL, key(), notebook, title, turned(body), written + {later}, changed + {later}, is_pinned
        FROM note WHERE {some(10, 3)}""")
    store.execute("INSERT INTO thumbnail SELECT key(), note, width, height, picture(length(jpeg)) FROM thumbnail "
                  "WHERE substr(uuid, 3, 1) IN ('5', '9')")


def deleted(store):
    for table in "reading", "message", "note":
        store.execute(f"DELETE FROM {table} WHERE {some(20, 11)}")
    store.execute("DELETE FROM thumbnail WHERE substr(uuid, 2, 1) = 'B'")


def new_index(store):
    store.execute("CREATE INDEX reading_by_device ON reading(device, value)")


CHANGES = {
    NOTHING: None, METADATA: None, ONE_ROW: one_row, "1 % updated": updated, "10 % appended": appended, "5 % deleted": deleted,
    "a new index": new_index,
}


def change(name, path):
    if change := CHANGES[name]:
        store = sqlite3.connect(path)
        with store:
            change(store)
        store.close()


def options(name):
    """Of `send`, that belong to it."""
    return ["--meta", META] if name == METADATA else []

#include <zlib.h>

// inflateInit is a macro, which Swift does not import.
static inline int ship_inflate_init(z_stream *stream) {
    return inflateInit(stream);
}

#include <zlib.h>

// These are macros, which Swift does not import.

static inline int ship_deflate_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
}

static inline int ship_inflate_init(z_stream *stream) {
    return inflateInit(stream);
}

// Without zlib's wrapping: no header, no checksum.

static inline int ship_inflate_init_raw(z_stream *stream) {
    return inflateInit2(stream, -MAX_WBITS);
}

static inline int ship_deflate_init_raw(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
}

// The options of Address Sanitizer, linked into the program that `make long-asan` builds: its checker inherits no variable.
//
// It keeps little of what was freed, and an allocation that is refused returns NULL, because the checker has little memory. Leaks are not
// looked for: Swift's own memory looks lost, and these processes let nobody look into them.
//
// Source: github.com/google/sanitizers/wiki/AddressSanitizerFlags.
const char *__asan_default_options(void);

const char *__asan_default_options(void) {
    return "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:quarantine_size_mb=16";
}

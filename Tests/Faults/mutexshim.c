// Lets Thread Sanitizer see Swift's Mutex where two threads meet at it: to be preloaded into what `make test-tsan` runs.
//
// On Linux the slow path of Mutex is in the standard library, which is not instrumented, and the kernel hands the lock from
// one thread to the other (FUTEX_LOCK_PI) without a store that the sanitizer could see. So every contended Mutex looks like
// a race. This takes the place of that slow path: it waits by trying, and says when it has the lock. The fast path, and the
// release, are in the instrumented code already.
//
// Source: swiftlang/swift, stdlib/public/Synchronization/Mutex/LinuxImpl.swift.
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

// There only in a program with the sanitizer.
extern void __tsan_acquire(void *address) __attribute__((weak));

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) _Atomic uint32_t *word)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

__attribute__((swiftcall)) void lock_slow(uint32_t thread, __attribute__((swift_context)) _Atomic uint32_t *word) {
    uint32_t unlocked = 0;
    while (!atomic_compare_exchange_weak_explicit(
        word, &unlocked, thread, memory_order_acquire, memory_order_relaxed)) {
        unlocked = 0;
        sched_yield();
    }
    if (__tsan_acquire) __tsan_acquire((void *)word);
}

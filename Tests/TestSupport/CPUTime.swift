import CLibrary

/// How long cores have worked, in nanoseconds: it says more of a piece of work than a clock, where other processes take their turns.
package enum CPUTime {
    /// Of this thread.
    package static var thread: UInt64 { time(CLOCK_THREAD_CPUTIME_ID) }

    /// Of all threads of this process.
    package static var process: UInt64 { time(CLOCK_PROCESS_CPUTIME_ID) }

    private static func time(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

import CPlatform

extension PlatformCalls {
    /// mallopt(3): memory that is freed goes back to the system from this size on, in bytes.
    ///
    /// Otherwise glibc raises its own threshold with each larger piece that is freed, up to 32 MiB, and a process that works on
    /// one megabyte after the other keeps some twenty of them. It does nothing with another C library.
    package static func returnFreedMemory(from size: Int32 = 256 * 1024) {
        ship_store_set_mmap_threshold(size)
    }

    /// From here on this process leaves no core file, and on Linux no other of the same user may look into its memory: a
    /// device's key may be in it. What it starts may do as it likes.
    package static func forbidDumps() { ship_store_forbid_dumps() }
}

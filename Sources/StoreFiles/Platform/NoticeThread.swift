import CPlatform
import Dispatch
import Synchronization
package import SystemPackage

/// A thread that waits for notices, for as long as this lives, or until it is told to end.
package final class NoticeThread: Sendable {
    private let stop: OpenFile
    private let isToEnd = Atomic(false)
    private let thread = DispatchGroup()

    /// The thread's view of its end.
    package struct End: ~Copyable, Sendable {
        private let file: OpenFile

        fileprivate init(_ file: consuming OpenFile) { self.file = file }

        /// Waits for one of the descriptors, or the end.
        ///
        /// - Parameter time: How long to wait at the most; `nil` for as long as it takes.
        /// - Returns: Whether the thread is to end.
        package func hasCome(after time: Duration?, or descriptors: [FileDescriptor] = []) -> Bool {
            PlatformCalls.waitForInput(from: descriptors + [file.descriptor], atMost: time)
            return PlatformCalls.hasInput(file.descriptor)
        }
    }

    /// - Parameters:
    ///   - path: What it waits for changes of, for errors.
    ///   - run: The work of the thread, which returns when the end has come; it outlives this for a moment.
    /// - Throws: If there is no descriptor or no thread left.
    package init(watching path: FilePath, _ run: @escaping @Sendable (borrowing End) -> Void) throws(FileError) {
        let (read, write): (FileDescriptor, FileDescriptor)
        do throws(Errno) {
            (read, write) = try PlatformCalls.pipe()
        } catch {
            throw FileError(.watch, path, error)
        }
        stop = OpenFile.owning(write, as: "")
        let end = End(OpenFile.owning(read, as: ""))
        thread.enter()
        let work = Unmanaged.passRetained(
            Work { [thread] in
                run(end)
                thread.leave()
            })
        let error = ship_store_start_thread(
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
            }, work.toOpaque())
        guard error == 0 else {
            // Nobody reads what would tell it to end.
            isToEnd.store(true, ordering: .relaxed)
            work.release()
            thread.leave()
            throw FileError(.watch, path, Errno(rawValue: error))
        }
    }

    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    deinit { tellToEnd() }

    /// Once only: afterwards the reading end may be closed.
    package func tellToEnd() {
        if !isToEnd.exchange(true, ordering: .relaxed) { try? stop.write([0]) }
    }

    /// Ends it before its time, and waits until the thread has nothing open any more, for as long as there is time.
    ///
    /// - Returns: Whether it has nothing open.
    package func end(by time: ContinuousClock.Instant) -> Bool {
        tellToEnd()
        let rest = max(0, ContinuousClock.now.duration(to: time) / .seconds(1))
        return thread.wait(timeout: .now() + rest) == .success
    }
}

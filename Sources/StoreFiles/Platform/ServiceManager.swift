import CLibrary
import CPlatform

/// The service manager that has started this process, as systemd does. Where there is none, nobody is told anything.
///
/// Source: sd_notify(3), sd_watchdog_enabled(3).
package enum ServiceManager {
    package enum Notice: String, Sendable {
        /// It listens, or has begun to follow.
        case ready = "READY=1"
        /// It has been told to stop, and is about to.
        case stopping = "STOPPING=1"
        case alive = "WATCHDOG=1"
    }

    package static func tell(_ notice: Notice) {
        guard let socket = getenv("NOTIFY_SOCKET") else { return }
        ship_store_send_datagram(socket, notice.rawValue)
    }

    /// How often it wants to hear that this process is alive, at least; `nil` if it does not want to.
    private static var watchdogTime: Duration? {
        func number(_ name: String) -> Int64? { getenv(name).flatMap { Int64(String(cString: $0)) } }
        guard let time = number("WATCHDOG_USEC"), time > 0, number("WATCHDOG_PID").map({ $0 == getpid() }) ?? true
        else { return nil }
        return .microseconds(time)
    }

    /// Tells that this process is alive until the task is cancelled, from the threads that do its work: if all of them hang, it is not told.
    package static func tellOfLife() async {
        guard let watchdogTime else { return }
        repeat { tell(.alive) } while (try? await Task.sleep(for: watchdogTime / 2)) != nil
    }
}

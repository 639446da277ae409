import Foundation

/// The long forms of tests, which `make soak` runs.
package enum Soak {
    package static let isOn = ProcessInfo.processInfo.environment["SHIP_STORE_SOAK"] == "1"
}

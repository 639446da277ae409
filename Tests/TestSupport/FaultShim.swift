import Foundation
import StoreFiles
package import SystemPackage

/// `Tests/Faults/faultshim.c`, built: it counts the calls of a program that change a file system or send bytes, and kills
/// the program before the n-th of them, or lets the n-th fail.
package enum FaultShim {
    /// What happens at a call.
    package enum Action: String, Sendable {
        case kill, eio, enospc
        /// As a kernel says that does not know the call.
        case enosys
        /// As a file system says that has no such thing.
        case eperm, enotsup, einval
        /// As is said to a user's quota, and to a limit on the size of files.
        case edquot, efbig
        /// The program waits right before the call until it gets SIGCONT.
        case stop
        /// A sync is not made, and says that it has worked.
        case skip

        /// Those after which a program cannot go on as it was.
        package static let faults = [Action.kill, .eio, .enospc]
    }

    /// Whether it happens at one call, or at all from that one on, as on a disk that is full.
    package enum Extent: String, CaseIterable, Sendable {
        case once = ""
        case onward = "+"
    }

    /// One call that was counted.
    package struct Call: Sendable {
        package let name: String
        package let path: String
        /// Of a rename, a link or a symbolic link: the new name.
        package let target: String?
    }

    private static let tests = FilePath(#filePath).removingLastComponent().removingLastComponent()
    /// Beside what Swift has built.
    private static let library = tests.removingLastComponent().appending(".build").appending("faultshim.so")

    /// Whether a program here can be given the shim: there is a C compiler, and `LD_PRELOAD`. The first who asks builds it.
    package static func isAvailable() async throws -> Bool { try await isBuilt.value }

    private static let isBuilt = Task { () async throws -> Bool in
        #if os(Linux)
            let compiler = try? await ChildProgram("/usr/bin/env", ["cc", "--version"]).wait()
            guard compiler?.status == .exited(0) else { return false }
            try Folder.make(library.removingLastComponent())
            // Another process of tests may have loaded the one that is there.
            let new = FilePath("\(library).\(PlatformCalls.processID)")
            let source = tests.appending("Faults/faultshim.c")
            let outcome = try await ChildProgram(
                "/usr/bin/env", ["cc", "-shared", "-fPIC", "-O2", "-o", new.string, source.string, "-ldl"]
            ).wait()
            guard outcome.status == .exited(0) else { throw NotBuilt(words: outcome.stderr) }
            try PlatformCalls.rename(new, to: library)
            return true
        #else
            return false
        #endif
    }

    package struct NotBuilt: Error { package let words: String }

    /// What to run `ship-store` with.
    ///
    /// - Parameters:
    ///   - call: The number of the call, from 1.
    ///   - log: Where the calls are listed: an absolute path.
    ///   - kept: Where what is synced is kept, for `CutDisk`: a folder, by an absolute path.
    package static func environment(
        _ action: Action? = nil, at call: Int = 0, _ extent: Extent = .once, only names: [String] = [], log: FilePath,
        keepingIn kept: FilePath? = nil
    ) -> [String: String] {
        var variables = [
            "LD_PRELOAD": library.string, "SHIP_STORE_FAULT_PROGRAM": "ship-store", "SHIP_STORE_FAULT_LOG": log.string,
            "SHIP_STORE_FAULT_ONLY": names.joined(separator: ","),
        ]
        variables["SHIP_STORE_FAULT_KEPT"] = kept?.string
        if let action {
            variables["SHIP_STORE_FAULT_AT"] = "\(call)\(extent.rawValue)"
            variables["SHIP_STORE_FAULT_ACTION"] = action.rawValue
        }
        return variables
    }

    /// The calls in a log; none if there is no log.
    package static func calls(in log: FilePath) -> [Call] {
        guard let text = try? String(contentsOfFile: log.string, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return nil }
            let paths = fields[2].split(separator: " -> ", maxSplits: 1).map(String.init)
            return Call(name: String(fields[1]), path: paths.first ?? "", target: paths.count > 1 ? paths[1] : nil)
        }
    }
}

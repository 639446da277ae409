import ArgumentParser
import ShipStore
import SystemPackage

/// The names that a shell offers where one is wanted.
extension CompletionKind {
    /// The stores of the inbox that the line names.
    static let stores = custom { words, _, _ in
        let inbox = value(of: "--into", in: words).map { Inbox(at: FilePath(text: $0)) }
        return ((try? inbox?.storeNames()) ?? []).map(\.text)
    }

    /// The devices that this one trusts.
    static let devices = custom { words, _, _ in
        let device = Device(folder: value(of: "--identity", in: words).map { FilePath(text: $0) })
        return ((try? device.peers()) ?? []).map(\.name.text)
    }

    private static func value(of option: String, in words: [String]) -> String? {
        guard let place = words.firstIndex(of: option), words.indices.contains(place + 1) else { return nil }
        return words[place + 1]
    }
}

import ArgumentParser
import ShipStore
import SystemPackage

/// How the values of some options are written: what help calls such a value, what completes it, and what reads it.
struct Notation<Value> {
    let name: String
    var completion: CompletionKind?
    let read: @Sendable (String) throws -> Value
}

extension Notation<FilePath> {
    static var folder: Self { Self(name: "folder", completion: .directory, read: FilePath.readFolder) }
}

extension Notation<StoreName> {
    static var store: Self { Self(name: "store", read: StoreName.read) }
    static var name: Self { Self(name: "name", read: StoreName.read) }
}

extension Notation<StoreMetadata.Pair> {
    static var pair: Self { Self(name: "key=value", read: StoreMetadata.readPair) }
}

extension Notation<Endpoint> {
    static var endpoint: Self { Self(name: "endpoint", completion: .file(), read: Endpoint.read) }
    static var publication: Self { Self(name: "endpoint", completion: .directory, read: Endpoint.read) }
    static var listening: Self { Self(name: "address", read: Endpoint.readListening) }
}

extension Notation<Duration> {
    static var seconds: Self { Self(name: "seconds", read: Duration.readSeconds) }
    static var interval: Self { Self(name: "time", read: Duration.readInterval) }
    static var age: Self { Self(name: "time", read: Duration.readAge) }
}

extension Notation<Int64> {
    static var size: Self { Self(name: "size", read: Int64.readSize) }
    static var memory: Self { Self(name: "bytes", read: Int64.readMemory) }
}

extension Option {
    init(wrappedValue: Value, _ help: String, _ notation: Notation<Value>) {
        self.init(
            wrappedValue: wrappedValue, help: ArgumentHelp(help, valueName: notation.name),
            completion: notation.completion, transform: notation.read)
    }

    init(name: NameSpecification = .long, _ help: String, _ notation: Notation<Value>) {
        self.init(
            name: name, help: ArgumentHelp(help, valueName: notation.name), completion: notation.completion,
            transform: notation.read)
    }

    init<Some>(name: NameSpecification = .long, _ help: String, _ notation: Notation<Some>) where Value == Some? {
        self.init(
            name: name, help: ArgumentHelp(help, valueName: notation.name), completion: notation.completion,
            transform: notation.read)
    }

    init<Some>(
        wrappedValue: [Some], name: NameSpecification = .long, _ help: String, _ notation: Notation<Some>
    ) where Value == [Some] {
        self.init(
            wrappedValue: wrappedValue, name: name, help: ArgumentHelp(help, valueName: notation.name),
            completion: notation.completion, transform: notation.read)
    }
}

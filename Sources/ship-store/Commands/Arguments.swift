// Values of the library as the command line writes them. What is wrong with one is said in words.
import ArgumentParser
import ShipStore

/// Where a shipment goes to or comes from.
struct EndpointArgument: Hashable {
    let endpoint: Endpoint

    @Sendable static func read(_ text: String) throws -> EndpointArgument {
        EndpointArgument(endpoint: try EndpointError.explained { () throws(EndpointError) in try Endpoint(text) })
    }
}

/// Where one can listen.
struct AddressArgument: Hashable {
    let endpoint: Endpoint

    @Sendable static func read(_ text: String) throws -> AddressArgument {
        AddressArgument(
            endpoint: try EndpointError.explained { () throws(EndpointError) in try Endpoint(text, for: .listening) })
    }
}

extension EndpointError {
    fileprivate static func explained(_ read: () throws(EndpointError) -> Endpoint) throws -> Endpoint {
        do throws(EndpointError) {
            return try read()
        } catch {
            throw ValidationError(error.words)
        }
    }

    private var words: String {
        switch self {
        case .empty: "something is missing after it"
        case .containsNUL: "it holds a NUL byte"
        case .badHost(""): "the host is missing"
        case .badHost(let host):
            "\(host) is not a host's name; a file is written ./NAME or NAME.shipment"
        case .badPort: "a port is a number from 1 to 65535, or 0 where one listens"
        case .needsBrackets: "an IPv6 address stands in brackets, as in [::1]:\(Endpoint.defaultPort)"
        case .onlyAPort(let port): "that is a port without a host, as in 127.0.0.1:\(port)"
        case .cannotListen: "one can listen on HOST:PORT or unix:PATH only"
        }
    }
}

struct StoreNameArgument: Hashable {
    let name: StoreName

    @Sendable static func read(_ text: String) throws -> StoreNameArgument {
        guard let name = StoreName(text) else {
            throw ValidationError(
                """
                a name is 1 to 128 letters, digits, dots, dashes and underscores, begins with a letter, a digit or an \
                underscore, and does not end in -wal, -shm or -journal
                """)
        }
        return StoreNameArgument(name: name)
    }
}

struct LevelArgument: Hashable, CustomStringConvertible {
    let effort: Effort
    /// As the help writes it.
    let description: String

    static let auto = LevelArgument(effort: .auto, description: "auto")

    @Sendable static func read(_ text: String) throws -> LevelArgument {
        guard text != auto.description else { return auto }
        guard let level = Int(text).flatMap(CompressionLevel.init) else {
            throw ValidationError("a level is auto or a number from 1 to 9")
        }
        return LevelArgument(effort: .level(level), description: text)
    }
}

struct MetadataArgument: Hashable {
    let key: String
    let value: String

    @Sendable static func read(_ text: String) throws -> MetadataArgument {
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw ValidationError("a pair is written key=value")
        }
        return MetadataArgument(key: String(text[..<sign]), value: String(text[text.index(after: sign)...]))
    }
}

/// A number of seconds above 0, with or without a fraction.
struct Seconds: Hashable, CustomStringConvertible {
    let duration: Duration
    /// As the help writes it.
    let description: String

    private static let longest = 86_400.0

    init(_ seconds: Int) {
        duration = .seconds(seconds)
        description = "\(seconds)"
    }

    private init(_ seconds: Double, _ text: String) {
        duration = .seconds(seconds)
        description = text
    }

    @Sendable static func read(_ text: String) throws -> Seconds {
        guard let seconds = Double(text), seconds > 0, seconds <= longest else {
            throw ValidationError("a time is a number of seconds above 0 and up to 86400")
        }
        return Seconds(seconds, text)
    }
}

/// `90s`, `15m`, `12h`, `7d` or `2w`.
struct AgeArgument: Hashable {
    let duration: Duration

    private static let seconds: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    /// A hundred years, in seconds: nothing is kept longer on purpose.
    private static let longest: Int64 = 36_525 * 86_400

    @Sendable static func read(_ text: String) throws -> AgeArgument {
        guard let unit = text.last.flatMap({ seconds[$0] }),
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int64(text.dropLast()), count <= longest / unit
        else { throw ValidationError("a time is a number and a unit, as in 90s, 15m, 12h, 7d or 2w") }
        return AgeArgument(duration: .seconds(count * unit))
    }
}

/// How a command speaks.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Write one JSON object a line to standard output.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    /// Whether nobody is told anything, neither people nor programs.
    var isSilent: Bool { quiet && !json }

    var console: Console { Console(quiet ? .quiet : .normal, json ? .json : .words) }
}

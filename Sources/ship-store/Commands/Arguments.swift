public import ArgumentParser
import ShipStore
import Subprocess
public import SystemPackage

// Reads values of the library from the command line, as `@Option(transform:)` wants it. Errors carry words for people.

extension Endpoint {
    /// Where a shipment goes to or comes from.
    @Sendable static func read(_ text: String) throws -> Endpoint { try read(text, toListen: false) }

    /// Where one can listen.
    @Sendable static func readListening(_ text: String) throws -> Endpoint { try read(text, toListen: true) }

    private static func read(_ text: String, toListen isToListen: Bool) throws -> Endpoint {
        do throws(EndpointError) {
            return try Endpoint(text, toListen: isToListen)
        } catch {
            throw ValidationError(error.words)
        }
    }
}

extension EndpointError {
    fileprivate var words: String {
        switch self {
        case .empty: "something is missing after it"
        case .containsNUL: "it holds a NUL byte"
        case .isAFolder(let path):
            "it names a folder: a file is \(path)NAME, and the folder of a publication dir:\(path)"
        case .notText: "it is not UTF-8, which all but the path of a file has to be"
        case .badHost(""): "the host is missing"
        case .badHost(let host):
            "\(host) is not a host's name; a file is written ./NAME or NAME.shipment"
        case .badPort: "a port is a number from 1 to 65535, or 0 where one listens"
        case .badURL:
            """
            a publication is dir:PATH, https://HOST/PATH without a query, or s3://BUCKET/PREFIX with a bucket of 3 to 63 \
            letters, digits, dots, dashes and underscores; a device is HOST:PORT, and a file ./NAME
            """
        case .needsBrackets: "an IPv6 address stands in brackets, as in [::1]:\(Endpoint.defaultPort)"
        case .onlyAPort(let port): "that is a port without a host, as in 127.0.0.1:\(port)"
        case .cannotListen: "one can listen on HOST:PORT or unix:PATH only"
        }
    }
}

extension StoreName {
    @Sendable static func read(_ text: String) throws -> StoreName {
        guard let name = StoreName(text) else {
            throw ValidationError(
                """
                a name is 1 to 128 letters, digits, dots, dashes and underscores, begins with a letter, a digit or an \
                underscore, and does not end in -wal, -shm or -journal
                """)
        }
        return name
    }
}

/// The arguments of a command are texts here, as in `PathText`, since ArgumentParser takes no bytes.
extension FilePath: @retroactive ExpressibleByArgument {
    public init?(argument text: String) { self.init(text: text) }

    public static var defaultCompletionKind: CompletionKind { .file() }

    /// The path of a folder. An empty one is most likely of a variable that is not set; it is not taken for the working directory.
    @Sendable static func readFolder(_ text: String) throws -> FilePath {
        guard !text.isEmpty else { throw ValidationError("it names no folder; . is the working directory") }
        return FilePath(text: text)
    }

    /// The path of a file.
    @Sendable static func readFile(_ text: String) throws -> FilePath {
        guard !text.isEmpty else { throw ValidationError("it names no file") }
        return FilePath(text: text)
    }
}

extension ParsableCommand {
    /// Refuses a second place: the last one would count, and whoever named two receivers would not hear that one gets nothing.
    static func refuseSecondPlaces(in arguments: [String]) throws {
        let options = arguments.prefix { $0 != "--" }.map { $0.prefix { $0 != "=" } }
        guard options.first != "help", !options.contains("--help"), !options.contains("-h") else { return }
        for place in ["--to", "--from", "--into", "--listen", "--over", "--keep-in", "--as", "--in"]
        where options.count(where: { $0 == place }) > 1 {
            throw ValidationError("\(place) is given twice")
        }
    }

    /// Refuses bytes that are no UTF-8 wherever a text is wanted. It looks only if there are some, as a mirror takes 4 ms.
    func refuseBytes(in arguments: [String]) throws {
        guard !arguments.allSatisfy(PathText.isPlain) else { return }
        if Self.hasBytes(self) { throw ValidationError("an argument is not UTF-8, which all but paths have to be") }
    }

    private static func hasBytes(_ value: Any) -> Bool {
        switch value {
        case is FilePath, is Endpoint: false
        case let text as String: !PathText.isPlain(text)
        default: Mirror(reflecting: value).children.contains { hasBytes($0.value) }
        }
    }
}

extension Subprocess.Arguments {
    /// For `/bin/sh`: runs a program with a path in its environment. Subprocess itself takes no bytes for a variable.
    ///
    /// - Parameter words: The program and its arguments, as in `PathText`.
    init(running words: [String], with variable: String, _ path: FilePath) {
        let script = #"\#(variable)=$0; export \#(variable); exec "$@""#
        let all = [Array("-c".utf8), Array(script.utf8), path.bytes] + words.map(PathText.bytes)
        // Subprocess hands the bytes on as strings of C.
        self.init(executablePathOverride: nil, remainingValues: all.map { $0 + [0] })
    }
}

extension Effort {
    static let completion = CompletionKind.list(["auto"] + (1...9).map(String.init))

    @Sendable static func read(_ text: String) throws -> Effort {
        guard text != "auto" else { return .auto }
        guard let level = Int(text).flatMap(CompressionLevel.init) else {
            throw ValidationError("a level is auto or a number from 1 to 9")
        }
        return .level(level)
    }
}

extension StoreMetadata {
    /// A pair, `key=value`.
    typealias Pair = (key: String, value: String)

    @Sendable static func readPair(_ text: String) throws -> Pair {
        guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
            throw ValidationError("a pair is written key=value")
        }
        return (key: String(text[..<sign]), value: String(text[text.index(after: sign)...]))
    }

    static func dictionary(_ pairs: [Pair]) -> [String: String] {
        Dictionary(pairs.map { ($0.key, $0.value) }) { first, _ in first }
    }
}

extension Duration {
    /// Reads a number of seconds above 0, with or without a fraction.
    @Sendable static func readSeconds(_ text: String) throws -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds <= 86_400 else {
            throw ValidationError("a time is a number of seconds above 0 and up to 86400")
        }
        return .seconds(seconds)
    }

    /// Whole seconds, as `readSeconds` reads them.
    var inSeconds: Int64 { components.seconds }

    /// Reads `200ms`, `90s`, `15m` or `1h`, up to a day.
    @Sendable static func readInterval(_ text: String) throws -> Duration {
        let units: [(name: String, milliseconds: Int64)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
        guard let unit = units.first(where: { text.hasSuffix($0.name) }),
            case let digits = text.dropLast(unit.name.count), !digits.isEmpty,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int64(digits), count <= 86_400_000 / unit.milliseconds
        else { throw ValidationError("a time is a number and a unit, as in 200ms, 10s, 15m or 1h, and at most a day") }
        return .milliseconds(count * unit.milliseconds)
    }

    /// Reads `90s`, `15m`, `12h`, `7d` or `2w`.
    @Sendable static func readAge(_ text: String) throws -> Duration {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        // A hundred years, in seconds. The limit prevents overflow.
        let longest: Int64 = 36_525 * 86_400
        guard let unit = text.last.flatMap({ units[$0] }),
            text.dropLast().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int64(text.dropLast()), count <= longest / unit
        else {
            throw ValidationError(
                "a time is a number and a unit, as in 90s, 15m, 12h, 7d or 2w, and at most a hundred years")
        }
        return .seconds(count * unit)
    }
}

/// Numbers of bytes.
extension Int64 {
    /// Reads `500k`: decimal units, as in the output of this program.
    @Sendable static func readSize(_ text: String) throws -> Int64 {
        var digits = Substring(text.lowercased())
        if digits.hasSuffix("b") { digits.removeLast() }
        let unit = decimalUnits.first { digits.hasSuffix($0.letter.lowercased()) }
        if unit != nil { digits.removeLast() }
        guard let count = Int64(digits), count >= 0, digits.first != "+",
            case let (bytes, overflow) = count.multipliedReportingOverflow(by: unit?.bytes ?? 1), !overflow
        else {
            throw ValidationError(
                "a size is a whole number of bytes, or one with k, M or G, as in 500k, and less than 2^63 bytes")
        }
        return bytes
    }

    /// Reads `64M`: K, M and G stand for powers of 1,024.
    @Sendable static func readMemory(_ text: String) throws -> Int64 {
        let unit = binaryUnits.first { text.uppercased().last == $0.letter }
        let digits = unit == nil ? text[...] : text.dropLast()
        let plain = digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard plain, let number = Int64(digits),
            case let (bytes, overflow) = number.multipliedReportingOverflow(by: unit?.bytes ?? 1),
            !overflow
        else { throw ValidationError("a number of bytes is written 4096, 512K, 64M or 2G, and is less than 2^63") }
        return bytes
    }

    /// As `readSize` reads it, in the largest unit that fits.
    var asSize: String { written(in: Self.decimalUnits) }

    /// As `readMemory` reads it, in the largest unit that fits.
    var asMemory: String { written(in: Self.binaryUnits) }

    private typealias Unit = (letter: Character, bytes: Int64)
    private static let decimalUnits: [Unit] = [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1000)]
    private static let binaryUnits: [Unit] = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)]

    private func written(in units: [Unit]) -> String {
        let unit = units.first { self > 0 && self % $0.bytes == 0 }
        return unit.map { "\(self / $0.bytes)\($0.letter)" } ?? "\(self)"
    }
}

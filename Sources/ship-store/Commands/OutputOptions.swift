import ArgumentParser

/// How a command speaks.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Write one JSON object a line to standard output.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    /// Whether the command writes neither words nor JSON, except for errors.
    var isSilent: Bool { quiet && !json }

    var console: Console { Console(isQuiet: quiet, endsJSON: json) }

    func console(_ format: LogFormat) -> Console { Console(isQuiet: quiet, endsJSON: json, format) }

    /// Writes to standard output what programs read, or what people do.
    func write(json value: @autoclosure () -> some Encodable, or writeText: () -> Void) {
        if json { Output.write(json: value()) } else { writeText() }
    }

    func write(_ object: @autoclosure () -> JSONObject, or writeText: () -> Void = {}) {
        write(json: object(), or: writeText)
    }

    /// Runs a command's work, which speaks on its console.
    func run(_ work: @escaping @Sendable (Console) async throws -> Void) async throws {
        let console = self.console
        try await console.run { try await work(console) }
    }
}

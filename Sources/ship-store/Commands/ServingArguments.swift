import ArgumentParser
import ShipStore
import ShipTransport
import SystemPackage

/// Where a receiver shows how it goes.
struct ServingArguments: ParsableArguments {
    fileprivate static let defaultPort = 7646

    @Option(
        help: ArgumentHelp(
            """
            Show what `ship-store status` says as a web page here, with /status.json, /metrics and /healthz beside it, as on \
            127.0.0.1:\(defaultPort); port 0 for a free one.
            """, valueName: "address"), transform: Endpoint.readServing)
    var serve: Endpoint?

    @Flag(
        help: """
            Let --serve show it beyond this machine: to whoever reaches the address, without encryption and without asking who they are.
            """)
    var serveToAnyone = false

    func validate() throws {
        if serveToAnyone, serve == nil { throw ValidationError("--serve-to-anyone says something only with --serve") }
    }

    /// Serves the pages, if they are wanted, as long as `body` runs.
    ///
    /// - Throws: If it cannot, and what `body` throws.
    func whileServing(
        _ pages: StatusPages, _ console: Console, writesJSON: Bool, within limit: Duration,
        _ body: () async throws -> Void
    ) async throws {
        guard case .tcp(let host, let port)? = serve else { return try await body() }
        if serveToAnyone { console.warn("--serve-to-anyone: whoever reaches the address can read how all stores are") }
        do {
            try await WebServer.serving(
                on: host, port, to: serveToAnyone ? .anyone : .thisMachine, within: limit,
                { await pages.answer(to: $0) }
            ) { address in
                console.say(
                    "serving the status on http://\(address)/", about: LogSubject(event: "serving", isTimed: false)
                )
                if writesJSON { Output.write(.event("serving", ["address": address.description])) }
                try await body()
            }
        } catch LinkError.notLoopback(let address) {
            console.fail(
                "whoever reaches \(address), which is beyond this machine, could read the page of --serve",
                hint: "serve on 127.0.0.1, or say --serve-to-anyone", .usage)
            throw ExitCode(ExitStatus.usage.rawValue)
        } catch let error as LinkError {
            throw ShipmentError(error)
        }
    }
}

extension Endpoint {
    /// Where one can serve pages; without a port, on that of `--serve`.
    @Sendable fileprivate static func readServing(_ text: String) throws -> Endpoint {
        // A number alone would be an address of 32 bits.
        let host = text.allSatisfy(\.isNumber) ? nil : "\(text):\(ServingArguments.defaultPort)"
        let endpoint = try host.flatMap { try? readListening($0) } ?? readListening(text)
        guard case .tcp = endpoint else { throw ValidationError("pages are served on HOST:PORT") }
        return endpoint
    }
}

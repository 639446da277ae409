import ArgumentParser
import ShipStore

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

import ArgumentParser
import ShipStore
import SystemPackage

/// What a receiver lets in.
struct RequirementArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Refuse stores that are not of this Core Data model: a .momd, its VersionInfo.plist, or a JSON of entity \
            hashes. Repeat it for several; one must match, in any of its versions.
            """, valueName: "path"), completion: .file())
    var model: [String] = []

    @Flag(help: "With --model: a store that has only some of a model's entities is welcome too.")
    var modelSubset = false

    @Option(
        help: ArgumentHelp(
            """
            Refuse stores of another schema: 64 digits, as `ship-store list --json` shows them. Repeat it for several.
            """, valueName: "digest"), transform: DigestArgument.read)
    var schemaDigest: [DigestArgument] = []

    @Option(
        help: ArgumentHelp("Refuse stores of another user_version: N, or A..B.", valueName: "range"),
        transform: UserVersionArgument.read)
    var userVersion: UserVersionArgument?

    @Option(
        help: ArgumentHelp(
            """
            Ask every new store this before it becomes current: one statement that only reads. Its first row must begin \
            with a value that is not 0 or NULL. Repeat it for several.
            """, valueName: "sql"), transform: ProbeArgument.read)
    var probe: [ProbeArgument] = []

    @Flag(
        help: """
            Take a store without a row in place of one with rows, where no identity says that it is the same store: a \
            queue may be empty.
            """)
    var allowEmpty = false

    func validate() throws {
        if modelSubset, model.isEmpty { throw ValidationError("--model-subset says something only with --model") }
    }

    /// Reads the models.
    func requirements() throws(ShipmentError) -> StoreRequirements {
        var requirements = StoreRequirements()
        for path in model {
            do throws(ModelFileError) {
                requirements.models += try ModelFile(at: FilePath(path)).models
            } catch {
                throw .model(error)
            }
        }
        requirements.modelMatch = modelSubset ? .subset : .exact
        requirements.schemaDigests = schemaDigest.map(\.digest)
        requirements.userVersions = userVersion?.range
        return requirements
    }
}

struct DigestArgument: Hashable {
    let digest: ContentDigest

    @Sendable static func read(_ text: String) throws -> DigestArgument {
        guard let digest = ContentDigest(hex: text.lowercased()) else {
            throw ValidationError("a digest is 64 hexadecimal digits")
        }
        return DigestArgument(digest: digest)
    }
}

/// `7`, or `5..7` for 5, 6 and 7.
struct UserVersionArgument: Hashable {
    let range: ClosedRange<Int32>

    @Sendable static func read(_ text: String) throws -> UserVersionArgument {
        let ends = text.split(separator: "..", maxSplits: 1, omittingEmptySubsequences: false).map { Int32($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
            throw ValidationError("a user_version is a number of 32 bits, or two with .. between them, the lower first")
        }
        return UserVersionArgument(range: first...last)
    }
}

struct ProbeArgument: Hashable {
    let probe: StoreProbe

    @Sendable static func read(_ text: String) throws -> ProbeArgument {
        do throws(StoreProbe.Flaw) {
            return ProbeArgument(probe: try StoreProbe(text))
        } catch {
            throw ValidationError(words(for: error))
        }
    }

    private static func words(for flaw: StoreProbe.Flaw) -> String {
        switch flaw {
        case .empty: "there is no statement in it"
        case .severalStatements: "a probe is one statement"
        case .writes: "a probe only reads"
        case .givesNoRows: "a probe is a statement that gives rows"
        case .hasParameters: "a probe has no parameters"
        case .syntax(let words): "SQLite does not understand it: \(words)"
        }
    }
}

public import DeviceTrust
public import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import StoreServing
public import SystemPackage

/// Whether one store, shipment or generation is intact: `verify`.
public struct Verification: Sendable {
    public let place: Place
    /// Its manifest, if that could be read.
    public let manifest: Manifest?
    /// `nil` if it is intact.
    public let problem: ShipmentError?
    /// Whether it can be told if it is intact; if not, `problem` says why.
    public var isJudged: Bool { problem?.leavesItOpen != true }
    /// The device that signed it, if it is a signed shipment in a file.
    public var signer: DeviceIdentifier?
    /// Whether it is a store of an inbox without a current generation: the first shipment was interrupted.
    public var isAwaited = false

    /// The place of what was verified.
    public enum Place: Hashable, Sendable {
        /// A store or a shipment.
        case file(FilePath)
        /// A folder; with the name of the store if it was found in an inbox.
        case generation(StoreName?, FilePath)
        /// A store in an inbox.
        case store(StoreName)
    }

    /// For people: a path, or a generation by its store's name and number.
    public var subject: String {
        switch place {
        case .file(let path), .generation(nil, let path): path.text
        case .generation(let name?, let folder): "\(name), generation \(folder.lastName)"
        case .store(let name): "\(name)"
        }
    }

    /// Reads everything again: sizes, digests, and SQLite's own checks. Nothing is changed.
    ///
    /// - Returns: One for each generation of an inbox, or one for anything else.
    /// - Throws: Where there is nothing to verify.
    public static func all(
        of artifact: Artifact, options: CopyOptions = CopyOptions(), checking: CheckOptions = CheckOptions()
    ) async throws(ShipmentError) -> [Verification] {
        let findings = try await findings(on: artifact, options, checking)
        // A verification that was stopped has no result.
        if findings.contains(where: { $0.problem == .stopped }) { throw .stopped }
        return findings
    }

    private static func findings(
        on artifact: Artifact, _ options: CopyOptions, _ checking: CheckOptions
    ) async throws(ShipmentError) -> [Verification] {
        switch artifact {
        case .inbox(let path): return try await findings(in: Inbox(at: path), checking)
        case .generation(let path):
            return [await finding(.generation(nil, path), checking) { () throws in try Generation(at: path) }]
        case .shipment(let path):
            do throws(ShipmentError) {
                let shipments = try await UnpackedShipments(path, options, checking)
                return shipments.all.map {
                    Verification(place: .file(path), manifest: $0.generation.manifest, problem: nil, signer: $0.signer)
                }
            } catch {
                // One that lacks only its base may be intact.
                guard error.isOfContent else { throw error }
                return [Verification(place: .file(path), manifest: nil, problem: error)]
            }
        case .store(let path):
            do {
                try await SourceStore(at: path, options).check()
                let copy = try await PreparedCopy(of: path, options)
                let manifest = copy.manifest
                // What a receiver will check.
                _ = try await checking.check(copy.path(ofPart: 0), against: StoreClaims(manifest))
                withExtendedLifetime(copy) { _ in }
                return [Verification(place: .file(path), manifest: manifest, problem: nil)]
            } catch {
                let problem = ShipmentError(error)
                guard problem.isOfContent else { throw problem }
                return [Verification(place: .file(path), manifest: nil, problem: problem)]
            }
        }
    }

    private static func findings(
        in inbox: Inbox, _ checking: CheckOptions
    ) async throws(ShipmentError) -> [Verification] {
        try await ShipmentError.awaiting {
            var findings: [Verification] = []
            for name in try inbox.storeNames() {
                var ofStore: [Verification] = []
                do throws(InboxError) {
                    let paths = try inbox.generationPaths(of: name)
                    for path in paths {
                        let finding = await finding(.generation(name, path), checking) { try Generation(at: path) }
                        // A receiver, or `prune`, may have removed it meanwhile.
                        if finding.problem != nil, !(try inbox.generationPaths(of: name)).contains(path) { continue }
                        ofStore.append(finding)
                    }
                    // A name without generations is that of a store whose first shipment never arrived. A name with only its
                    // first generation may be that of a store whose receiver was interrupted before it became current, or
                    // before it had its public name; the next receiver goes on from there. What was current may be gone, with all
                    // generations.
                    let folder = try inbox.open()
                    if let current = try folder.shownCurrent(of: name) {
                        try folder.checkLinks(for: current.manifest, areMade: try folder.hasBeenShown(name))
                    } else if !paths.isEmpty, ofStore.allSatisfy({ $0.problem == nil }) {
                        ofStore = [Verification(place: .store(name), manifest: nil, problem: nil, isAwaited: true)]
                    }
                } catch {
                    // A flaw of the current generation itself is among the findings already.
                    if ofStore.allSatisfy({ $0.problem == nil }) {
                        ofStore.append(
                            Verification(place: .store(name), manifest: nil, problem: .install(error.asOfInbox)))
                    }
                }
                findings += ofStore
            }
            return findings
        }
    }

    private static func finding(
        _ place: Place, _ checking: CheckOptions, _ open: () throws -> Generation
    ) async -> Verification {
        var manifest: Manifest?
        do {
            let generation = try open()
            manifest = generation.manifest
            try generation.compareWithManifest()
            _ = try await checking.check(generation.storePath, against: StoreClaims(generation.manifest))
            return Verification(place: place, manifest: manifest, problem: nil)
        } catch {
            var problem = ShipmentError(error)
            if case .install(let error) = problem { problem = .install(error.asOfInbox) }
            return Verification(place: place, manifest: manifest, problem: problem)
        }
    }
}

extension ShipmentError {
    /// Whether it says that the content is not intact; otherwise the content could not be read to its end, as that of a locked store, or
    /// for want of room.
    fileprivate var isOfContent: Bool {
        switch self {
        case .badStore(.tookTooLong), .badStore(.tookTooMuchMemory), .badStore(.file): false
        case .signature: true
        default: failureRule.exitStatus == .badData
        }
    }

    /// Whether it says nothing of the content: SQLite lacks what only an app has, a part of the store is out of reach, or this machine is in
    /// trouble.
    fileprivate var leavesItOpen: Bool {
        switch self {
        case .source(.needsApp), .source(.hotJournal),
            .source(.severalNames), .source(.tooManyExternalFiles):
            true
        // SQLITE_ERROR: of the check's own statements, and not of the pages.
        case .badStore(.unreadable(1, _)): true
        // What is missing of a generation is damage too, and so is a link in its place.
        case .install(.file(let error)) where error.errno == .tooManySymbolicLinkLevels: false
        default: !isOfContent && failureRule.exitStatus != .noInput
        }
    }
}

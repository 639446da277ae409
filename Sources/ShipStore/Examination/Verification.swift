public import DeviceTrust
public import ShipProtocol
import StoreFiles
import StoreInbox
import StoreServing
public import SystemPackage

/// Whether something is whole: `verify`.
public struct Verification: Sendable {
    /// One thing that was looked at.
    public struct Finding: Sendable {
        public let place: Place
        /// What it says of itself, if that could be read.
        public let manifest: Manifest?
        /// `nil` if it is whole.
        public let problem: ShipmentError?
        /// The device that signed it, of a shipment in a file that is signed.
        public var signer: DeviceIdentifier?
        /// Whether it is a store of an inbox of which nothing has become current yet: its first receiver was cut off.
        public var isAwaited = false

        /// For people: a path, or a generation by its store's name and number.
        public var subject: String {
            switch place {
            case .file(let path), .generation(nil, let path): path.string
            case .generation(let name?, let folder): "\(name), generation \(folder.lastComponent?.string ?? "")"
            case .store(let name): "\(name)"
            }
        }
    }

    /// What was looked at.
    public enum Place: Hashable, Sendable {
        /// A store or a shipment.
        case file(FilePath)
        /// A folder; with the name of the store if it was found in an inbox.
        case generation(StoreName?, FilePath)
        /// A store in an inbox.
        case store(StoreName)
    }

    private let options: CopyOptions
    private let checking: CheckOptions

    public init(options: CopyOptions = CopyOptions(), checking: CheckOptions = CheckOptions()) {
        self.options = options
        self.checking = checking
    }

    /// Reads everything again: sizes, digests, and SQLite's own checks. Nothing is changed.
    ///
    /// - Returns: A finding for each generation of an inbox, or one for anything else.
    /// - Throws: Where there is nothing to look at.
    public func run(on artifact: Artifact) async throws(ShipmentError) -> [Finding] {
        let findings = try await findings(on: artifact)
        // What was not looked at to its end is not found to be anything.
        if findings.contains(where: { $0.problem == .stopped }) { throw .stopped }
        return findings
    }

    private func findings(on artifact: Artifact) async throws(ShipmentError) -> [Finding] {
        switch artifact {
        case .inbox(let path): return try await findings(in: Inbox(at: path))
        case .generation(let path):
            return [await finding(.generation(nil, path)) { () throws in try Generation(at: path) }]
        case .shipment(let path):
            do throws(ShipmentError) {
                let shipments = try await UnpackedShipments(path, options.temporaryFolder)
                return shipments.all.map {
                    Finding(place: .file(path), manifest: $0.generation.manifest, problem: nil, signer: $0.signer)
                }
            } catch .notWhole(let path, let name, let base) {
                // It may be as good as any.
                throw .notWhole(path, name, base: base)
            } catch {
                return [Finding(place: .file(path), manifest: nil, problem: error)]
            }
        case .store(let path):
            do {
                let manifest = try await PreparedCopy(of: path, options).manifest
                return [Finding(place: .file(path), manifest: manifest, problem: nil)]
            } catch {
                return [Finding(place: .file(path), manifest: nil, problem: ShipmentError(error))]
            }
        }
    }

    private func findings(in inbox: Inbox) async throws(ShipmentError) -> [Finding] {
        do throws(InboxError) {
            var findings: [Finding] = []
            for name in try inbox.storeNames() {
                let paths = try inbox.generationPaths(of: name)
                var ofStore: [Finding] = []
                for path in paths {
                    ofStore.append(await finding(.generation(name, path)) { try Generation(at: path) })
                }
                do throws(InboxError) {
                    // A name without generations is that of a store whose first shipment never arrived; with its first
                    // alone, of one whose receiver was cut off before that became current. The next one sweeps it away.
                    if !paths.isEmpty, try inbox.current(of: name) == nil {
                        guard try inbox.open().awaitsFirst(name) else { throw .noSuchStore(name) }
                        if ofStore.allSatisfy({ $0.problem == nil }) {
                            ofStore = [Finding(place: .store(name), manifest: nil, problem: nil, isAwaited: true)]
                        }
                    }
                } catch {
                    // What is wrong with the current generation itself has been found already.
                    if ofStore.allSatisfy({ $0.problem == nil }) {
                        ofStore.append(Finding(place: .store(name), manifest: nil, problem: .install(error)))
                    }
                }
                findings += ofStore
            }
            return findings
        } catch {
            throw .install(error)
        }
    }

    private func finding(_ place: Place, _ open: () throws -> Generation) async -> Finding {
        var manifest: Manifest?
        do {
            let generation = try open()
            manifest = generation.manifest
            try generation.compareWithManifest()
            _ = try await checking.check(generation.storePath, against: StoreClaims(generation.manifest))
            return Finding(place: place, manifest: manifest, problem: nil)
        } catch {
            return Finding(place: place, manifest: manifest, problem: ShipmentError(error))
        }
    }
}

public import DeviceTrust
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreServing
import SystemPackage

/// Whether something is whole: `verify`.
public struct Verification: Sendable {
    /// One thing that was looked at.
    public struct Finding: Sendable {
        /// A path, or a generation by its store's name and number.
        public let subject: String
        /// What it says of itself, if that could be read.
        public let manifest: Manifest?
        /// `nil` if it is whole.
        public let problem: ShipmentError?
        /// The device that signed it, of a shipment in a file that is signed.
        public var signer: DeviceIdentifier?
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
        switch artifact {
        case .inbox(let path): return try await findings(in: Inbox(at: path))
        case .generation(let path): return [await finding(path.string) { () throws in try Generation(at: path) }]
        case .shipment(let path):
            do throws(ShipmentError) {
                let shipment = try await UnpackedShipment(path, options.temporaryFolder)
                let (manifest, signer) = (shipment.generation.manifest, shipment.signer)
                return [Finding(subject: path.string, manifest: manifest, problem: nil, signer: signer)]
            } catch {
                return [Finding(subject: path.string, manifest: nil, problem: error)]
            }
        case .store(let path):
            do {
                let manifest = try await PreparedCopy(of: path, options).manifest
                return [Finding(subject: path.string, manifest: manifest, problem: nil)]
            } catch {
                return [Finding(subject: path.string, manifest: nil, problem: ShipmentError(error))]
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
                    let subject = "\(name), generation \(path.lastComponent?.string ?? "")"
                    ofStore.append(await finding(subject) { try Generation(at: path) })
                }
                do throws(InboxError) {
                    // A name without generations is that of a store whose first shipment never arrived.
                    if !paths.isEmpty, try inbox.current(of: name) == nil { throw .noSuchStore(name) }
                } catch {
                    // What is wrong with the current generation itself has been found already.
                    if ofStore.allSatisfy({ $0.problem == nil }) {
                        ofStore.append(Finding(subject: "\(name)", manifest: nil, problem: .install(error)))
                    }
                }
                findings += ofStore
            }
            return findings
        } catch {
            throw .install(error)
        }
    }

    private func finding(_ subject: String, _ open: () throws -> Generation) async -> Finding {
        var manifest: Manifest?
        do {
            let generation = try open()
            manifest = generation.manifest
            try generation.compareWithManifest()
            _ = try await checking.check(generation.storePath, against: StoreClaims(generation.manifest))
            return Finding(subject: subject, manifest: manifest, problem: nil)
        } catch {
            return Finding(subject: subject, manifest: manifest, problem: ShipmentError(error))
        }
    }
}

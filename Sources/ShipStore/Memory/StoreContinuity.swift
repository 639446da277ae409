package import ShipLinks
import ShipProtocol
import StoreBases
import StoreFiles
import SystemPackage

/// Whether what is sent to a receiver under a name is the store that was sent there under that name before. Where nothing is remembered,
/// every store is.
struct StoreContinuity: Sendable {
    private let memory: BaseMemory
    private let source: Producer.Source
    private let receiver: String
    /// The app's name for the store.
    private let key: String?

    /// - Parameter receiver: A device's id, or a place; empty for any receiver of a one-way shipment.
    /// - Returns: `nil` where nothing is remembered.
    init?(of source: Producer.Source, to receiver: String, _ options: Producer.Options) {
        guard let memory = options.memory else { return nil }
        (self.memory, self.source, self.receiver) = (memory, source, receiver)
        key = options.storeKey
    }

    /// Lets the memory follow the store to its present path, if it was elsewhere.
    ///
    /// - Throws: `.otherSent` if another store was sent there under the name; `.unknownSent` where that cannot be told.
    func check(replacing: Bool) async throws(ShipmentError) {
        if replacing { return }
        let path = source.store.path
        let known = try known()
        // Most often it is at the same path as ever, and nothing has to be read for it.
        guard !known.contains(where: { $0.receiver == receiver && $0.path == path }), !known.isEmpty,
            let own = await sent()
        else { return }
        for earlier in known where earlier.path != path {
            if own.isSame(as: earlier) {
                if earlier.isGone { try? memory.follow(from: earlier.path, to: path) }
            } else if earlier.receiver == receiver {
                throw .otherSent(source.name, earlier.path)
            }
        }
    }

    /// The stores that were sent under the name. In a memory that is not this user's there are none of them; and an app that has its own name
    /// for the store, and nobody who could mend the memory, is taken at its word.
    private func known() throws(ShipmentError) -> [SentStore] {
        do throws(BaseMemoryError) {
            return try memory.sent(as: source.name)
        } catch {
            switch error {
            case .stopped: throw .stopped
            case .otherOwner: return []
            case .file(let failure) where failure.errno == .permissionDenied: return []
            case _ where key != nil: return []
            default: throw .unknownSent(source.name, error)
            }
        }
    }

    private func sent() async -> SentStore? {
        guard let survey = try? await source.store.survey(externalFiles: false) else { return nil }
        return sent(survey.identity, survey.schemaSHA256)
    }

    private func sent(_ identity: ForeignText?, _ schema: ContentDigest) -> SentStore? {
        guard let status = try? PlatformCalls.status(of: source.store.path) else { return nil }
        return SentStore(
            source.name, to: receiver, at: source.store.path, status, key: key, identity: identity, schema: schema)
    }

    /// The store as it has been sent.
    func sent(_ manifest: Manifest) -> SentStore? { sent(manifest.identity, manifest.store.schemaSHA256) }

    /// The store has been sent.
    func note(_ manifest: Manifest) {
        if let sent = sent(manifest) { memory.note(sent) }
    }
}

extension PeerLink {
    /// The name of the other end in the memory: a device's id, or an endpoint.
    var nameOfReceiver: String {
        if let device { return device.text }
        guard case .at(let endpoint) = peer else { return "\(peer)" }
        return endpoint.nameInMemory
    }
}

extension Endpoint {
    /// The same wherever this process is, and however it writes the path: also through symbolic links.
    package var nameInMemory: String {
        switch self {
        case .unix(let path): "\(Endpoint.unix(PlatformCalls.realPlace(of: path)))"
        case .folder(let path): "\(Endpoint.folder(PlatformCalls.realPlace(of: path)))"
        case .file(let path): "\(Endpoint.file(PlatformCalls.realPlace(of: path)))"
        case .tcp, .standardStreams, .command, .web, .bucket: "\(self)"
        }
    }
}

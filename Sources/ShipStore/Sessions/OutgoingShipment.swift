import ShipCompression
import ShipProtocol
import StoreFormat
import StoreSnapshot

/// A compact copy and its external files on their way out. When it is dropped, the copy goes.
final class OutgoingShipment: Sendable {
    /// How it is sent, as far as the user has a say.
    struct Manner: Sendable {
        var effort = Effort.auto
        var form = StoreForm.columns
        var selfCheck = SelfCheck.on
        /// How many blocks are deflated at the same time.
        var cores = 1
        /// Without one, the store goes in blocks.
        var codec: ColumnsCodec?
    }

    /// What is sent in one go, up to END.
    enum Content: Hashable, Sendable {
        /// All parts but these.
        case shipment(skipping: Set<Int>)
        /// The store alone, in blocks.
        case storeAgain
    }

    let copy: PreparedCopy
    let manner: Manner

    init(_ copy: consuming PreparedCopy, _ manner: Manner) {
        self.copy = copy
        self.manner = manner
    }

    var manifest: Manifest { copy.manifest }

    /// What the entries of the store's indexes are made of; `nil` if the copy is not in canonical form, and cannot go by its
    /// rows.
    var indexShapes: [String: IndexShape]? {
        guard case .made(let shapes) = copy.copy.canonical else { return nil }
        return shapes
    }

    /// Sends the content, then END.
    ///
    /// - Parameters:
    ///   - forms: How the consumer takes a store.
    ///   - link: What is known of the link so far.
    ///   - beforeEnd: Called when all but END has been sent, with the form in which the store went; if it throws, END is not.
    func send(
        _ content: Content, taking forms: Set<StoreForm>, over link: SendingPolicy.Link, _ writer: FrameWriter,
        report: (SendEvent) -> Void, beforeEnd: (StoreForm) throws -> Void = { _ in }
    ) async throws {
        var sending = PartSending(of: self, content, taking: forms, over: link, writer)
        report(sending.progress)
        let form = try await sending.sendStore(report)
        try await sending.sendExternalFiles(report)
        try beforeEnd(form)
        try await writer.send(.end)
    }
}

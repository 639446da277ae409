import ShipCompression
import ShipProtocol
import StoreInstall

/// How the store of a shipment comes in: in blocks, which are staged like those of any other part, or by its rows, of which a
/// decoder makes it.
///
/// What is wrong with rows is not said at once: until the next part begins the producer may take them back
/// (`Protocol/README.md` section 3.4).
final class IncomingStore {
    private enum State {
        case blocks
        case rows(any ColumnsDecoder)
        /// All rows have come, and the store is made of them.
        case made
        /// They do not decode.
        case unmade(CompressionError)
    }

    private let codec: ColumnsCodec?
    private var state = State.blocks
    /// Bytes of the store that its rows have come to.
    private(set) var bytesMade: Int64 = 0

    init(_ codec: ColumnsCodec?) {
        self.codec = codec
    }

    /// Takes the next piece of the rows; those that follow one that does not decode are passed over.
    ///
    /// - Throws: What has nothing to do with what the rows say: errors of the file system.
    func append(_ columns: Columns, to staged: inout StagedGeneration?) throws {
        do {
            switch state {
            case .made, .unmade: return
            case .blocks:
                // The dialogue lets no rows pass if there is no codec.
                guard let codec, let path = try staged?.storePathForMaking(), let facts = staged?.manifest.store,
                    let room = staged?.workingRoom
                else { throw ProtocolError.badColumns(.place) }
                let decoder = try codec.makeDecoder(StoreToMake(path: path, facts: facts, room: room))
                state = .rows(decoder)
                try decode(columns, with: decoder, to: &staged)
            case .rows(let decoder): try decode(columns, with: decoder, to: &staged)
            }
        } catch let error as CompressionError {
            state = .unmade(error)
            bytesMade = 0
            try staged?.discardStore()
        }
    }

    private func decode(
        _ columns: Columns, with decoder: any ColumnsDecoder, to staged: inout StagedGeneration?
    ) throws {
        try decoder.append(columns.segment)
        if columns.isLast {
            try decoder.finish()
            state = .made
        }
        staged?.storeGrew(by: decoder.bytesDone - bytesMade)
        bytesMade = decoder.bytesDone
    }

    /// All that has come of the store is void; it comes in blocks from here on.
    func startAgain(in staged: inout StagedGeneration?) throws {
        state = .blocks
        bytesMade = 0
        try staged?.discardStore()
    }

    /// The rows can be taken back no more.
    ///
    /// - Throws: `CompressionError` if they did not decode.
    func settle() throws {
        if case .unmade(let error) = state { throw error }
    }
}

import DeviceTrust
import ShipProtocol
import ShipTransport

extension Desk {
    /// Connects to a receiver as a device, which then does what no side of ours does.
    func withLink<Value>(
        as device: String, to receiver: Receiver, _ body: (PeerLink) async throws -> Value
    ) async throws -> Value {
        var options = LinkOptions()
        options.security = .mutualTLS(try DeviceFolder(at: self[device]).identity()) { _ in .full }
        options.lingerTime = .zero
        return try await PeerLink.withLink(
            to: .tcp(host: "127.0.0.1", port: Int(receiver.port)), options
        ) { link throws in try await body(link) }
    }
}

extension PeerLink {
    /// What the receiver says last: why it refuses; `nil` if it says no such thing.
    func refusal(within limit: Duration = .seconds(10)) async throws -> Reason? {
        var (parser, reader) = (FrameParser(), reader)
        while let bytes = try await reader.next(within: limit) {
            parser.append(bytes)
            while let element = try parser.next() {
                if case .frame(.refusal(let reason)) = element { return reason }
            }
        }
        return nil
    }
}

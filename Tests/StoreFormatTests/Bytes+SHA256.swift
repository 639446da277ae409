import ShipProtocol
import StoreFiles

extension [UInt8] {
    /// 64 digits.
    var sha256: String { ContentDigest(hashing: self).description }
}

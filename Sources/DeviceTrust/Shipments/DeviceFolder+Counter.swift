import SystemPackage

/// The number of the last shipment of this device: `DIR/counter`, in decimal digits and a line feed.
///
/// It rises before it is used, and is durable by then: no two shipments ever carry the same, whatever is killed or cut off.
/// Numbers may be left out.
extension DeviceFolder {
    /// The next number, for one shipment.
    ///
    /// - Throws: Among others `.damaged` for a file that holds no number: nobody knows then which ones were used.
    package func nextCounter() throws(IdentityError) -> UInt64 {
        try folder.make()
        return try folder.whileLocked { () throws(IdentityError) in
            let next = try lastCounter() + 1
            try folder.write(Array("\(next)\n".utf8), as: Self.counterFile)
            return next
        }
    }

    /// The number that was drawn last; 0 before the first.
    package func lastCounter() throws(IdentityError) -> UInt64 {
        try folder.read(Self.counterFile).map { (bytes) throws(IdentityError) in try counter(in: bytes) } ?? 0
    }

    private func counter(in bytes: [UInt8]) throws(IdentityError) -> UInt64 {
        // Nobody takes the highest number, and there is none after it.
        guard bytes.last == UInt8(ascii: "\n"),
            bytes.dropLast().allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = UInt64(String(decoding: bytes.dropLast(), as: UTF8.self)), number < .max - 1
        else { throw .damaged(path.appending(Self.counterFile), flaw: "it holds no number of a shipment") }
        return number
    }
}

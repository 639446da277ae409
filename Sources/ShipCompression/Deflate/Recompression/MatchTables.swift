/// The memory in which matches are looked for. Many trials, one after the other, use it and do not clear it: the places of each are
/// counted on from those of the one before.
final class MatchTables {
    /// The bytes that the next trials are of.
    private(set) var content: [UInt8] = []
    /// A copy, which stays where it is.
    private(set) var bytes = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 8)
    private(set) var heads = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    private(set) var chain = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    private var byteCapacity = 1
    private var headCount = 0
    private var chainCount = 0
    /// The number from which the places of the next trial are counted.
    private var base = 0

    deinit {
        bytes.deallocate()
        heads.deallocate()
        chain.deallocate()
    }

    /// - Parameter content: Below 2 GiB.
    func hold(_ content: [UInt8]) {
        precondition(content.count <= Int32.max)
        self.content = content
        if byteCapacity < content.count {
            bytes.deallocate()
            bytes = .allocate(byteCount: content.count, alignment: 8)
            byteCapacity = content.count
        }
        UnsafeMutableRawBufferPointer(start: bytes, count: content.count).copyBytes(from: content)
    }

    /// Begins a trial.
    ///
    /// - Returns: What its places are counted on from.
    func begin(_ parameters: DeflateParameters) -> Int {
        let hashes = 1 << parameters.hashBits
        if headCount < hashes || base > Int(Int32.max) - content.count {
            heads.deallocate()
            headCount = max(headCount, hashes)
            heads = .allocate(capacity: headCount)
            heads.initialize(repeating: 0, count: headCount)
            base = 0
        }
        if chainCount < parameters.windowSize {
            chain.deallocate()
            chainCount = parameters.windowSize
            chain = .allocate(capacity: chainCount)
        }
        defer { base += content.count }
        return base
    }
}

extension LongMatches {
    /// The text area from what `LongMatches` made of it.
    ///
    /// - Parameter size: At most `SegmentLimits.textSize`.
    static func text(
        _ literals: ArraySlice<UInt8>, runs: [UInt64], lengths: [UInt64], distances: [UInt64], size: Int,
        dictionary: [UInt8]
    ) throws(CompressionError) -> [UInt8] {
        guard !runs.isEmpty else {
            guard literals.count == size else { throw .damaged(.segment) }
            return Array(literals)
        }
        var isSound = true
        let text = [UInt8](unsafeUninitializedCapacity: size) { text, count in
            count = 0
            literals.withUnsafeBufferPointer { literals in
                dictionary.withUnsafeBufferPointer { dictionary in
                    var taken = 0
                    func put(_ run: Int) -> Bool {
                        guard run <= literals.count - taken, run <= size - count else { return false }
                        if run > 0, let from = literals.baseAddress, let to = text.baseAddress {
                            (to + count).initialize(from: from + taken, count: run)
                        }
                        taken += run
                        count += run
                        return true
                    }
                    for index in 0..<runs.count {
                        guard runs[index] <= UInt64(size), lengths[index] <= UInt64(size), put(Int(runs[index])),
                            Int(lengths[index]) + shortest <= size - count,
                            distances[index] < UInt64(count + dictionary.count)
                        else {
                            isSound = false
                            return
                        }
                        var from = count - Int(distances[index]) - 1
                        for _ in 0..<Int(lengths[index]) + shortest {
                            text[count] = from < 0 ? dictionary[dictionary.count + from] : text[from]
                            count += 1
                            from += 1
                        }
                    }
                    isSound = put(literals.count - taken) && count == size
                }
            }
        }
        guard isSound else { throw .damaged(.segment) }
        return text
    }
}

extension Range<Int> {
    /// The first index that is not before what is looked for, as all after it are not; `upperBound` if each is before it.
    @inline(__always)
    func first(notBefore isBefore: (Int) throws -> Bool) rethrows -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low &+ high) / 2
            if try isBefore(middle) { low = middle &+ 1 } else { high = middle }
        }
        return low
    }
}

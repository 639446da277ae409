/// Runs of equal integers.
struct IntegerRuns {
    private(set) var values: [Int64] = []
    private(set) var lengths: [Int64] = []

    init(_ integers: [Int64]) {
        for integer in integers {
            if integer == values.last {
                lengths[lengths.count - 1] += 1
            } else {
                values.append(integer)
                lengths.append(1)
            }
        }
    }
}

/// The dictionary of a segment, and where it stands in the store.
struct EarlierContent {
    let runs: [PageRun]
    let bytes: [UInt8]
}

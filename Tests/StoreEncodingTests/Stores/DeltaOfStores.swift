import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import StoreEncoding

/// Two states of a store, and the delta between them.
struct DeltaOfStores {
    private let states: StoreStates
    let segments: [[UInt8]]

    var base: [UInt8] { states.base }
    var new: [UInt8] { states.new }
    var shapes: [String: IndexShape] { states.shapes }

    /// - Parameters:
    ///   - first: Makes the store.
    ///   - second: Makes it what it is to be.
    init(
        encoding: String = "UTF-8", pageSize: Int = 1024, _ first: String, _ second: String,
        effort: SegmentEffort = .smallest, isCanonical: Bool = true
    ) throws {
        try self.init(
            of: StoreStates(encoding: encoding, pageSize: pageSize, first, second, isCanonical: isCanonical), effort,
            isCanonical)
    }

    /// - Parameters: Compact copies.
    init(of old: FilePath, _ new: FilePath, effort: SegmentEffort = .smallest, isCanonical: Bool = true) throws {
        try self.init(of: StoreStates(of: old, new, isCanonical: isCanonical), effort, isCanonical)
    }

    private init(of states: StoreStates, _ effort: SegmentEffort, _ isCanonical: Bool) throws {
        self.states = states
        segments = try Self.segments(states.base, states.new, isCanonical ? states.shapes : nil, effort)
    }

    /// Whether a delta is made that is larger than the whole store.
    enum Wanted { case always, ifSmaller }

    static func segments(
        _ base: [UInt8], _ new: [UInt8], _ shapes: [String: IndexShape]?, _ effort: SegmentEffort,
        _ wanted: Wanted = .always, limit: Int64 = .max
    ) throws -> [[UInt8]] {
        let segments = Collected()
        let encoder = DeltaEncoder(
            from: try MemoryPages(base), to: try MemoryPages(new), shapes: shapes, effort: effort
        ) { MemorySpill() }
        func take(_ segment: EncodedSegment) {
            segments.all.append(segment.bytes)
            segments.isEnded = segment.isLast
        }
        switch wanted {
        case .always: try encoder.encode(limit: limit, deliver: take)
        case .ifSmaller: try encoder.encodeIfSmaller(limit: limit, deliver: take)
        }
        #expect(segments.isEnded)
        return segments.all
    }

    private final class Collected {
        var all: [[UInt8]] = []
        var isEnded = false
    }

    /// In bytes.
    var size: Int { segments.reduce(0) { $0 + $1.count } }

    /// Applies segments to a base.
    ///
    /// - Returns: The file.
    func applied(_ segments: [[UInt8]]? = nil, to base: [UInt8]? = nil) throws -> [UInt8] {
        try states.applied(segments ?? self.segments, to: base)
    }
}

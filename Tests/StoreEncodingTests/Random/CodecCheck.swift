import CZlib
import Foundation
import GRDB
import RandomStores
import ShipCompression
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage
import TestSupport

@testable import StoreEncoding

/// What must hold of every store: at each effort it comes back, in as few bytes, and as little time and memory, as is promised; and so
/// does what differs from its earlier generations.
struct CodecCheck {
    /// A promise that is broken.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// What a higher effort may take, in parts of what a lower one does.
    ///
    /// Of few bytes it may take some more, as libdeflate's levels search in different ways.
    private static let (mostDisorder, fewBytes) = (1.01, 64.0)
    /// The largest store, in bytes, whose delta is compared with the whole before it goes; and what a delta of a larger one may take that
    /// shares nothing with its base, in parts of the whole store.
    private static let (smallStore, mostOfWhole) = (4 << 20, 1.15)
    /// What rows may take that go in a hurry and are of several segments, in parts of what the pages take: the encoder does not compare
    /// them, as the first is on its way before the last is encoded. Each segment begins without
    /// what came before it: a value that says the same again and again says it once more in each.
    private static let (mostOfPages, mostOfSegment, beginning) = (1.1, 1 << 18, 1024)

    private let efforts: [CompressionLevel]

    /// - Parameter isThorough: Whether all efforts are tried.
    init(isThorough: Bool) {
        efforts = (isThorough ? Array(1...9) : [1, 3, 6, 9]).compactMap { CompressionLevel($0) } + [.smallest]
    }

    /// - Throws: `Failure`.
    func check(_ made: RandomCase) async throws {
        let folder = try ScratchFolder.inMemory()
        let store = try MadeRandomStore(made.store, at: folder.path.appending("store"))
        defer { try? store.close() }
        var generations: [CanonicalCopy] = []
        func take() throws -> CanonicalCopy {
            let copy = folder.path.appending("copy \(generations.count)")
            try store.vacuum(into: copy)
            generations.append(try CanonicalCopy(of: copy))
            return generations[generations.count - 1]
        }
        do {
            try await check(whole: take())
            for turn in made.turns {
                store.run(turn)
                let new = try take()
                for (age, base) in generations.dropLast().reversed().enumerated() {
                    try await check(delta: new, over: base, "over the \(age == 0 ? "current" : "older") generation")
                }
            }
        } catch is DatabaseError {
            // SQLite 3.40 cannot vacuum some stores of generated columns, which therefore have no compact copy.
        } catch StoreFlaw.unusedPages {
            // It leaves free pages in some copies with auto-vacuum. A producer makes them in another way.
        }
    }

    // MARK: Whole stores

    private func check(whole copy: CanonicalCopy) async throws {
        var least: (bytes: Int, effort: CompressionLevel)?
        for effort in efforts {
            let plain = try Self.plainSize(of: copy, effort)
            for isAwaited in effort.value < 6 ? [false, true] : [false] {
                let words = "at level \(effort.value)\(isAwaited ? " over a link" : "")"
                let size = try await encodedSize(of: copy, effort, isAwaited: isAwaited, words) ?? plain
                let steps = isAwaited ? copy.bytes.count / Self.mostOfSegment : 0
                guard
                    Double(size) <= Double(plain) * (steps > 0 ? Self.mostOfPages : 1)
                        + Double(64 + Self.beginning * steps)
                else {
                    throw Failure("\(words): \(size) bytes, and \(plain) as pages")
                }
                guard !isAwaited else { continue }
                if let least, Double(size) > Double(least.bytes) * Self.mostDisorder + Self.fewBytes {
                    throw Failure("\(words): \(size) bytes, and \(least.bytes) at level \(least.effort.value)")
                }
                if size < least?.bytes ?? .max { least = (size, effort) }
            }
        }
    }

    /// Encodes it, and decodes that.
    ///
    /// - Returns: `nil` if its pages are smaller.
    private func encodedSize(
        of copy: CanonicalCopy, _ effort: CompressionLevel, isAwaited: Bool, _ words: String
    ) async throws -> Int? {
        let digest = ContentDigest(hashing: copy.bytes)
        let facts = StoreFacts(
            size: Int64(copy.bytes.count), sha256: digest, pageSize: copy.pageSize, pageCount: Int64(copy.pageCount),
            textEncoding: .utf8, applicationID: 0, userVersion: 0, schemaSHA256: digest)
        let store = StoreToEncode(
            path: "/", facts: facts, shapes: copy.shapes, settings: CompressionSettings(effort), selfCheck: true,
            cores: 2,
            isAwaited: isAwaited)
        let encoder = StoreEncoder(store, open: { try MemoryPages(copy.bytes) }, makeSpillFile: { MemorySpill() })
        var segments: [[UInt8]] = []
        do {
            try await Self.withinLimits(copy, effort, words) { try await encoder.encode { segments.append($0.bytes) } }
        } catch EncodingFailure.unsuitable {
            do {
                try StoreWalk.run(over: try MemoryPages(copy.bytes), shapes: copy.shapes) { _ in }
            } catch {
                throw Failure("\(words): the store cannot be walked over: \(error)")
            }
            return nil
        } catch let failure as EncodingFailure {
            throw Failure("\(words): \(failure)")
        }
        let target = MemoryPages(pageSize: copy.pageSize, mostPages: copy.pageCount)
        let builder = StoreBuilder(pageSize: copy.pageSize, pageCount: copy.pageCount) { _ in target }
        for segment in segments { try builder.append(segment) }
        guard builder.isComplete, target.bytes == copy.bytes else { throw Failure("\(words): another store comes out") }
        return segments.reduce(0) { $0 + $1.count }
    }

    private static func plainSize(of copy: CanonicalCopy, _ effort: CompressionLevel) throws -> Int {
        try stride(from: 0, to: copy.bytes.count, by: 1 << 20).reduce(0) { size, start in
            let block = Array(copy.bytes[start..<min(start + 1 << 20, copy.bytes.count)])
            return try size + Deflate.encodedSize(of: block, level: effort)
        }
    }

    // MARK: Deltas

    private func check(delta new: CanonicalCopy, over base: CanonicalCopy, _ words: String) async throws {
        // Those of a link, and those of a file.
        for effort in [SegmentEffort.standard, .smallest, SegmentEffort(.fastest)] {
            let words = "\(words), at \(effort.deflateLevel)"
            var segments: [[UInt8]] = []
            do {
                segments = try DeltaOfStores.segments(base.bytes, new.bytes, new.shapes, effort, .ifSmaller)
            } catch EncodingFailure.tooLarge {
                // The whole goes.
                continue
            } catch let failure as EncodingFailure {
                throw Failure("\(words): \(failure)")
            }
            let target = MemoryPages(pageSize: new.pageSize, mostPages: new.pageCount)
            let builder = DeltaBuilder(
                base: try MemoryPages(base.bytes), pageSize: new.pageSize, pageCount: new.pageCount
            ) { _ in target }
            for segment in segments { try builder.append(segment) }
            try builder.finish()
            guard target.bytes == new.bytes else { throw Failure("\(words): another store comes out") }
            let size = segments.reduce(0) { $0 + $1.count }
            var whole = 0
            try StoreWalk.run(over: try MemoryPages(new.bytes), shapes: new.shapes) {
                whole += try $0.encoded(effort).count
            }
            let most = new.bytes.count > Self.smallStore ? Double(whole) * Self.mostOfWhole : Double(whole)
            // One that is far smaller than the file is not compared.
            guard Double(size) <= most + 64 || size * 1024 <= new.bytes.count else {
                throw Failure("\(words): \(size) bytes, and \(whole) of the whole")
            }
        }
    }

    // MARK: Time and memory

    /// Below this many nanoseconds, time says nothing: with great care of a segment, too.
    private static func shortest(_ effort: CompressionLevel) -> UInt64 {
        SegmentEffort(effort).thoroughness == .great ? 3_000_000_000 : 1_000_000_000
    }
    /// What zlib takes for a megabyte of what is no padding, at least, in nanoseconds.
    private static let zlibPerMegabyte: UInt64 = 20_000_000
    /// What an encoder may take beside the store and its segments, which are in memory here.
    private static let mostMemory = 96 << 20

    private static func withinLimits(
        _ copy: CanonicalCopy, _ effort: CompressionLevel, _ words: String, _ body: () async throws -> Void
    ) async throws {
        let memory = MemoryUse.isMeaningful ? try MemoryUse.resetPeak() : nil
        let start = CPUTime.process
        try await body()
        let time = CPUTime.process - start
        if let memory, try MemoryUse.peak - memory > mostMemory {
            throw Failure("\(words): \((try MemoryUse.peak - memory) >> 20) MiB")
        }
        guard time > shortest(effort), MemoryUse.isMeaningful else { return }
        let limit = 30 * max(zlibTime(of: copy.bytes), UInt64(copy.bytes.count) * zlibPerMegabyte / 1_000_000)
        guard time > limit else { return }
        // Once more: something else may have been in the way.
        let again = CPUTime.process
        try await body()
        guard CPUTime.process - again <= limit else {
            throw Failure("\(words): \(time / 1_000_000) ms, and \(limit / 30_000_000) of zlib -6")
        }
    }

    private static func zlibTime(of bytes: [UInt8]) -> UInt64 {
        let start = CPUTime.process
        var size = compressBound(uLong(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(size))
        compress2(&output, &size, bytes, uLong(bytes.count), 6)
        return CPUTime.process - start
    }
}

extension MemoryUse {
    /// From now on `peak` is that of what follows [proc_pid_clear_refs(5)].
    ///
    /// - Returns: What is resident now, in bytes.
    fileprivate static func resetPeak() throws -> Int {
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        return try peak
    }
}

import DeviceTrust
import Testing

@testable import ShipTransport

/// Who gets which places of a listener.
@Suite struct SharedPlacesTests {
    private let a = DeviceIdentifier(ofCertificate: [1])
    private let b = DeviceIdentifier(ofCertificate: [2])
    private let c = DeviceIdentifier(ofCertificate: [3])

    /// Lets so many connections of a device come, numbered from `start`.
    ///
    /// - Returns: Those that get a place.
    private func come(
        _ count: Int, of device: DeviceIdentifier?, from start: Int, to places: inout SharedPlaces<Int>
    ) -> [Int] {
        for id in start..<start + count { #expect(places.arrive(id, of: device) == nil) }
        return takers(&places)
    }

    private func takers(_ places: inout SharedPlaces<Int>) -> [Int] {
        var ids: [Int] = []
        while let id = places.next() { ids.append(id) }
        return ids
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (4, 2), (64, 32)])
    func `a device alone gets no more than half, and one`(count: Int, share: Int) {
        var places = SharedPlaces<Int>(count, waitingLimit: 1000)
        #expect(come(100, of: a, from: 0, to: &places) == Array(0..<share))
    }

    @Test func `each that comes later finds a free one`() {
        var places = SharedPlaces<Int>(64, waitingLimit: 1000)
        #expect(come(100, of: a, from: 0, to: &places).count == 32)
        #expect(come(100, of: b, from: 100, to: &places).count == 16)
        #expect(come(100, of: c, from: 200, to: &places).count == 8)
        #expect(come(1, of: DeviceIdentifier(ofCertificate: [4]), from: 300, to: &places) == [300])
    }

    @Test func `whoever has fewest is next, and gets what becomes free`() {
        var places = SharedPlaces<Int>(3, waitingLimit: 1000)
        #expect(come(5, of: a, from: 0, to: &places) == [0, 1])
        #expect(come(2, of: b, from: 10, to: &places) == [10])
        #expect(come(1, of: c, from: 20, to: &places) == [])
        places.leave(0)
        #expect(takers(&places) == [20])
        places.leave(10)
        // One is free, and `a` has one already.
        #expect(takers(&places) == [11])
        places.leave(20)
        places.leave(11)
        #expect(takers(&places) == [2])
    }

    @Test func `those who cannot be told apart take what there is, in order`() {
        var places = SharedPlaces<Int>(3, waitingLimit: 1)
        #expect(come(5, of: nil, from: 0, to: &places) == [0, 1, 2])
        #expect(places.unknownWaits)
        places.leave(1)
        #expect(takers(&places) == [3])
        places.stopWaiting(4)
        #expect(!places.unknownWaits)
    }

    @Test func `too many that wait lose one of the device that has most`() {
        var places = SharedPlaces<Int>(1, waitingLimit: 4)
        #expect(come(4, of: a, from: 0, to: &places) == [0])
        #expect(places.arrive(10, of: b) == nil)
        #expect(places.arrive(11, of: c) == 3)
        #expect(places.arrive(4, of: a) == 4)
        places.leave(0)
        #expect(takers(&places) == [1])
    }
}

import Testing

@testable import StoreEncoding

@Suite struct EncodingScheduleTests {
    /// All that is begun before the next event.
    private func actions(
        of schedule: inout EncodingSchedule, isLinkSlow: Bool = false, isOnTrial: Bool = false
    ) -> [EncodingSchedule.Action] {
        var actions: [EncodingSchedule.Action] = []
        while let action = schedule.next(isLinkSlow: isLinkSlow, isOnTrial: isOnTrial) { actions.append(action) }
        return actions
    }

    @Test func `segments are delivered and checked in the order in which they were read`() {
        var schedule = EncodingSchedule(checks: true, isChecking: false)
        #expect(actions(of: &schedule) == [.read])
        schedule.didRead(isAtEnd: false)
        #expect(actions(of: &schedule) == [.encode(0), .read])
        schedule.didRead(isAtEnd: false)
        #expect(actions(of: &schedule) == [.encode(1), .read])
        schedule.didEncode(1)
        #expect(actions(of: &schedule) == [])
        schedule.didEncode(0)
        // The check goes on while a segment is delivered.
        #expect(actions(of: &schedule) == [.check(0), .deliver(0), .deliver(1)])
        schedule.didCheck()
        #expect(actions(of: &schedule) == [.check(1)])
        schedule.didRead(isAtEnd: true)
        schedule.didCheck()
        #expect(actions(of: &schedule) == [])
    }

    @Test func `no more is read while too much waits for its check`() {
        var schedule = EncodingSchedule(checks: true, isChecking: true)
        for index in 0..<4 {
            #expect(actions(of: &schedule).last == (index == 0 ? .read : .deliver(index - 1)))
            schedule.didRead(isAtEnd: false)
            #expect(actions(of: &schedule).first == .encode(index))
            schedule.didEncode(index)
        }
        #expect(actions(of: &schedule) == [.deliver(3)])
        schedule.didRead(isAtEnd: false)
        #expect(actions(of: &schedule) == [.encode(4)])
        schedule.didCheck()
        #expect(actions(of: &schedule) == [.check(0), .read])
    }

    @Test func `on a slow link one segment is encoded at a time`() {
        var schedule = EncodingSchedule(checks: false, isChecking: false)
        #expect(actions(of: &schedule, isLinkSlow: true) == [.read])
        schedule.didRead(isAtEnd: false)
        #expect(actions(of: &schedule, isLinkSlow: true) == [.encode(0), .read])
        schedule.didRead(isAtEnd: false)
        #expect(actions(of: &schedule, isLinkSlow: true) == [])
        schedule.didEncode(0)
        #expect(actions(of: &schedule, isLinkSlow: true) == [.encode(1), .read, .deliver(0)])
    }

    @Test func `on trial three segments are begun, and the next once they are delivered`() {
        var schedule = EncodingSchedule(checks: false, isChecking: false)
        #expect(actions(of: &schedule, isOnTrial: true) == [.read])
        for index in 0..<3 {
            schedule.didRead(isAtEnd: false)
            #expect(
                actions(of: &schedule, isOnTrial: true) == (index < 2 ? [.encode(index), .read] : [.encode(index)]))
        }
        for index in 0..<3 {
            schedule.didEncode(index)
            #expect(actions(of: &schedule, isOnTrial: true) == (index < 2 ? [.deliver(index)] : [.read, .deliver(2)]))
        }
    }
}

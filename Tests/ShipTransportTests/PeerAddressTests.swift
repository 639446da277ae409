import Testing

@testable import ShipTransport

/// Who counts as one when connections are counted.
@Suite struct PeerAddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8::1", "2001:db8:0:0:ffff::2"),
        ("fe80::1%eth0", "fe80::2%eth0"),
    ]) func `one network is one peer`(one: String, other: String) {
        #expect(PendingHandshakes.network(ofAddress: one) == PendingHandshakes.network(ofAddress: other))
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8:0:1::1"), ("::ffff:192.0.2.1", "::ffff:192.0.2.2"),
        ("127.0.0.1", "::1"),
    ]) func `two networks are two`(one: String, other: String) {
        #expect(PendingHandshakes.network(ofAddress: one) != PendingHandshakes.network(ofAddress: other))
    }
}

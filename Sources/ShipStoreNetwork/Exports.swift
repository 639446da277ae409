// Whoever ships over sockets and pipes sees all that there is.
@_exported public import ShipStore
@_exported public import ShipTransport

// Whoever makes links sees what they are.
@_exported public import ShipLinks

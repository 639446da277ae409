import ShipProtocol
import StoreInbox

/// The holdings that a sender may learn of.
extension Installer {
    /// Whether a sender may learn what is in a generation, from whether it has to send it. A device that has taken a store over
    /// learns nothing of what came before.
    func isKnown(_ generation: Generation, to sender: Sender) throws(InboxError) -> Bool {
        guard let id = sender.peer else { return true }
        return try origin(of: generation)?.mayBeKnown(to: id) ?? false
    }

    /// Where a generation is from; `nil` also where that cannot be read: what may come, the store's record decides, or is refused for it.
    func origin(of generation: Generation) throws(InboxError) -> Origin? {
        do throws(InboxError) {
            return try Origin.read(ofGenerationAt: generation.path, in: folder.files)
        } catch {
            guard case .badOrigin = error else { throw error }
            return nil
        }
    }

    /// Whether a generation was made by the device that has made a shipment, as far as that is known.
    func isMade(_ generation: Generation, by sender: Sender) throws(InboxError) -> Bool {
        guard let id = sender.device, let maker = try origin(of: generation)?.producer else { return true }
        return maker == id
    }

    /// Whether the device that passes a shipment on has what came last, by whichever way: a device has one shipment of a number.
    func isVery(_ manifest: Manifest, from sender: Sender) throws(InboxError) -> Bool {
        guard sender.relay != nil, let record = try folder.originRecord(of: manifest.name) else { return false }
        return record.producer == sender.device && record.highest == manifest.counter
    }
}

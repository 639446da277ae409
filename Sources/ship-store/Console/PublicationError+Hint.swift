import ShipStore

extension PublicationError {
    var hint: PrintableText? {
        switch self {
        case .nothingThere(.bucket(let address)):
            "check the place, or publish there first: ship-store send STORE --to \(Endpoint.bucket(address))"
        case .nothingThere: "check the place, or publish there first: ship-store send STORE --to dir:PATH"
        case .badHead(_, .versionNotSupported): "update this program"
        case .badHead(.web, _):
            "check the address: `head` there is something else; if it is the right one, look at who can write there"
        case .badHead:
            "have its publisher remove `head` there, and send again (after a --next-key see PUBLISHING.md); look at who can write there"
        case .badObject(_, let object):
            "look at who can write there, and have it published again, after `objects/\(object.hex)` there was removed"
        case .badSignature: "look at who can write there, and have its publisher remove `head` there, and send again"
        case .objectGone: "try again; if it stays away, have it published again"
        case .otherPublisher:
            "to publish, choose another place, or have that device name this one: ship-store publish --next-key ID PLACE; "
                + "to receive what is there, use another inbox, if it is meant to be there"
        case .handedOver: "publish with that device, or at another place"
        case .notPublished(_, _, let names):
            "published there: \(names.prefix(20).map(\.text).joined(separator: ", "))\(names.count > 20 ? ", and more" : "")"
        case .otherPublication: "if that is meant, receive it into another inbox"
        case .wentBack: "a cache or a backup may show what was there before: try again, and look at who can write there"
        case .expired: "publish anew, or let the publisher go on with --follow; look at the clocks of both sides"
        case .badStep: "have it published anew"
        case .noWay(_, let name):
            "have a change of it published, or begin anew: ship-store forget \(name) --into INBOX, and receive it again"
        case .notARecipient:
            "give its publisher this device's key, for send --encrypt-to KEY: ship-store identity --encryption-key"
        case .encrypted: "name all who are to read it, with --encrypt-to KEY, or publish at another place"
        case .otherRecipients: "name the files of these stores as well, or publish at another place"
        case .incomplete: "publish all of them, once what is wrong with those that failed is mended"
        case .contended: "let one program publish there at a time, and try again"
        case .notAnInbox: "receive into another folder"
        case .tooMany: "publish at another place"
        case .cannotPublish: "publish into the folder that the server shows, with dir:PATH, or with s3://BUCKET/PREFIX"
        case .ignoresConditions: "--unconditional publishes all the same, if only one program does"
        case .noCredentials:
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or have a profile in ~/.aws/credentials (AWS_PROFILE)"
        case .badStorage: "check --endpoint-url and AWS_REGION"
        case .storage(_, _, "NoSuchBucket"): "make the bucket, or check its name, --endpoint-url and AWS_REGION"
        case .storage(_, _, "SignatureDoesNotMatch"), .storage(_, _, "InvalidAccessKeyId"):
            "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile of AWS_PROFILE"
        case .storage(_, _, "ExpiredToken"), .storage(_, _, "InvalidToken"):
            "get new keys: those of this session are over"
        case .storage(_, _, "RequestTimeTooSkewed"): "set the clock"
        case .storage(_, _, "EntityTooLarge"): "publish it with dir:PATH: this storage takes no object of that size"
        case .storage(_, _, "PermanentRedirect"), .storage(_, _, "AuthorizationHeaderMalformed"):
            "set AWS_REGION to that of the bucket"
        case .storage(_, 404, _): "check the bucket's name, --endpoint-url and the region"
        case .storage(_, 401, _), .storage(_, 403, _): "check the keys, and what they may do in the bucket"
        case .storage: "try again"
        case .status(_, 401), .status(_, 403): "let the server show the folder to everybody: what is in it is signed"
        case .status(_, 404): "check the address"
        case .status: "try again"
        case .badAnswer: "check the address"
        }
    }
}

public import SystemPackage

/// What carries files and small dictionaries to one counterpart, whenever that can be reached: the part of `WCSession` that an
/// exchange of stores needs. `WatchConnectivitySession` is the real one.
///
/// Apple's documentation says of `WCSession` what the two halves rely on:
///
/// - Both kinds of transfers are queued, and go on while the app is suspended [transferUserInfo(_:), transferFile(_:metadata:)].
///   They may take any time.
/// - Dictionaries arrive in the order in which they were sent [transferUserInfo(_:)]. Of files, and of files beside dictionaries,
///   nothing of the kind is said.
/// - A file that came is there until the callback returns [session(_:didReceive:), WCSessionFile.fileURL].
/// - The end of a transfer is told, with an error or without; a transfer that failed is not tried again
///   [session(_:didFinish:error:)].
/// - Transfers may be begun only while the session is activated [transferFile(_:metadata:)]; anything else is a programmer's error.
///
/// What they do not rely on, because no document promises it: that anything arrives, that it arrives once, that order is kept, that
/// the end of each transfer is told. A dictionary has at most 65,536 bytes, as the framework's symbol `WCPayloadSizeLimitUserInfo`
/// says, which no document names [stackoverflow.com/questions/33025915].
public protocol TransferSession: Sendable {
    /// Whether transfers may be begun: on a phone, while the session is activated and the counterpart's app is installed.
    var isReady: Bool { get }

    /// Whether something has come of which no callback has told yet.
    var hasContentPending: Bool { get }

    /// Queues a file. It stays where it is until the end of the transfer is told, or it is cancelled.
    ///
    /// - Parameters:
    ///   - file: Where it is.
    ///   - metadata: Arrives with it; as a property list, at most 65,536 bytes.
    func transferFile(_ file: FilePath, metadata: [String: String])

    /// Queues a dictionary.
    ///
    /// - Parameter userInfo: As a property list, at most 65,536 bytes.
    func transferUserInfo(_ userInfo: [String: String])

    /// The metadata of each file that is queued and not delivered yet, also by an earlier process of the app.
    var outstandingFileTransfers: [[String: String]] { get }

    /// The same for dictionaries.
    var outstandingUserInfoTransfers: [[String: String]] { get }

    /// Takes files back that are not delivered yet.
    ///
    /// - Parameter isMeant: Is given the metadata of each.
    func cancelFileTransfers(where isMeant: ([String: String]) -> Bool)
}

/// What a session calls: either half of an exchange. None of the calls waits for anything but the disk, so any thread may make them.
public protocol TransferSessionDelegate: AnyObject, Sendable {
    /// A dictionary came.
    ///
    /// - Parameter userInfo: As it came, whoever it is for.
    /// - Returns: Whether it was for this half; the app's own are not.
    func session(didReceiveUserInfo userInfo: [String: Any]) -> Bool

    /// A file came, which may be gone once this returns: it is moved, or read.
    ///
    /// - Parameters:
    ///   - file: Where it is.
    ///   - metadata: What came with it, whoever it is for.
    /// - Returns: Whether it was for this half.
    func session(didReceiveFile file: FilePath, metadata: [String: Any]) -> Bool

    /// A transfer of a file is over.
    ///
    /// - Parameters:
    ///   - metadata: What went with it.
    ///   - failure: `nil` if it was delivered.
    func session(didFinishFile metadata: [String: Any], failure: (any Error)?)

    /// A transfer of a dictionary is over.
    ///
    /// - Parameters:
    ///   - userInfo: As it went.
    ///   - failure: `nil` if it was delivered.
    func session(didFinishUserInfo userInfo: [String: Any], failure: (any Error)?)

    /// Whether transfers may be begun has changed, or the counterpart can be reached again.
    func sessionDidChange()

    /// The counterpart is another device from here on: what was known of the one before says nothing of it.
    func counterpartDidChange()
}

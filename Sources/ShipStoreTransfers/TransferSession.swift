public import EssentialFoundation
public import SystemPackage

/// Carries files and small dictionaries to one counterpart, whenever that can be reached: the part of `WCSession` that an exchange of
/// stores needs. `WatchConnectivitySession` is the real one.
///
/// The two halves rely on these statements of Apple's documentation about `WCSession`:
///
/// - Both kinds of transfers are queued, and go on while the app is suspended [transferUserInfo(_:), transferFile(_:metadata:)].
///   They may take any time.
/// - Dictionaries arrive in the order in which they were sent [transferUserInfo(_:)]. The documentation does not say this of files, or
///   of files and dictionaries together.
/// - A file that came exists until the callback returns [session(_:didReceive:), WCSessionFile.fileURL].
/// - A callback reports the end of a transfer, with an error or without; the session does not try a failed transfer again
///   [session(_:didFinish:error:)].
/// - An app may begin transfers only while the session is activated [transferFile(_:metadata:)]; anything else is a programmer's error.
///
/// They do not rely on the following, because no document promises it: that a transfer arrives, that it arrives once, that order is
/// kept, that a callback reports the end of each transfer. A dictionary has at most 65,536 bytes, as the framework's symbol
/// `WCPayloadSizeLimitUserInfo` says, which no document names [stackoverflow.com/questions/33025915].
///
/// What builds on the counterpart's copy and is small goes in the application context instead: that waits at the counterpart for its app to run, and the
/// latest takes the place of those before [updateApplicationContext(_:)]. It has at most 262,144 bytes [WCErrorCodePayloadTooLarge].
public protocol TransferSession: Sendable {
    /// Whether the app may begin transfers: on a phone, while the session is activated and the counterpart's app is installed.
    var isReady: Bool { get }

    /// Whether content has come that no callback has reported yet.
    var hasContentPending: Bool { get }

    /// Queues a file. The caller keeps it until a callback reports the end of the transfer, or it is cancelled.
    ///
    /// - Parameters:
    ///   - file: Its path.
    ///   - metadata: Arrives with the file; as a property list, at most 65,536 bytes.
    func transferFile(_ file: FilePath, metadata: [String: String])

    /// Queues a dictionary.
    ///
    /// - Parameter userInfo: As a property list, at most 65,536 bytes.
    func transferUserInfo(_ userInfo: [String: String])

    /// The metadata of each file that is queued and not delivered yet, including files of an earlier process of the app.
    var outstandingFileTransfers: [[String: String]] { get }

    /// The same for dictionaries.
    var outstandingUserInfoTransfers: [[String: String]] { get }

    /// The part of this half in the application context that was set last, by this process of the app or an earlier one; `nil` for none.
    var context: Data? { get }

    /// Sets the part of this half in the application context, and leaves the app's own as it is.
    ///
    /// - Throws: If the session does not take it; then a file goes.
    func setContext(_ context: Data?) throws

    /// The counterpart's part in the application context that came last; `nil` for none.
    var receivedContext: Data? { get }

    /// Cancels transfers of files that are not delivered yet.
    ///
    /// - Parameter isMeant: Decides by the metadata of each.
    func cancelFileTransfers(where isMeant: ([String: String]) -> Bool)
}

/// One half of an exchange, which a session calls. The calls wait for nothing but the disk, so any thread may make them.
public protocol TransferSessionDelegate: AnyObject, Sendable {
    /// A dictionary came.
    ///
    /// - Parameter userInfo: As it came; it may be one of the app's own.
    /// - Returns: Whether it was for this half.
    func session(didReceiveUserInfo userInfo: [String: Any]) -> Bool

    /// A file came. It may be gone once this returns, so this half moves or reads it.
    ///
    /// - Parameters:
    ///   - file: Its path.
    ///   - metadata: As they came; the file may be one of the app's own.
    /// - Returns: Whether it was for this half.
    func session(didReceiveFile file: FilePath, metadata: [String: Any]) -> Bool

    /// A transfer of a file is over.
    ///
    /// - Parameters:
    ///   - metadata: As they were sent.
    ///   - failure: `nil` if it was delivered.
    func session(didFinishFile metadata: [String: Any], failure: (any Error)?)

    /// A transfer of a dictionary is over.
    ///
    /// - Parameters:
    ///   - userInfo: As it was sent.
    ///   - failure: `nil` if it was delivered.
    func session(didFinishUserInfo userInfo: [String: Any], failure: (any Error)?)

    /// `isReady` has changed, the counterpart can be reached again, or its context has come.
    func sessionDidChange()

    /// The counterpart is another device from here on, with other holdings.
    func counterpartDidChange()
}

#if canImport(WatchConnectivity)
    public import Foundation
    import Synchronization
    public import SystemPackage
    public import WatchConnectivity

    /// Carries an exchange over `WCSession`. An app with a `WCSessionDelegate` of its own passes the calls on instead.
    ///
    /// It was written from the documentation, and has not been compiled on Apple's systems yet.
    public final class WatchConnectivitySession: NSObject, TransferSession, WCSessionDelegate {
        /// Of the exchange's part in the application context.
        private static let contextKey = "ship-store"

        private let half = Mutex<(any TransferSessionDelegate)?>(nil)
        private var session: WCSession { .default }

        /// Activates the session for one half. Apple asks an app to do so early after its start, so that it misses no content.
        public func activate(for half: any TransferSessionDelegate) {
            self.half.withLock { $0 = half }
            guard WCSession.isSupported() else { return }
            session.delegate = self
            session.activate()
        }

        private var delegate: (any TransferSessionDelegate)? { half.withLock { $0 } }

        // MARK: TransferSession

        public var isReady: Bool {
            #if os(iOS)
                WCSession.isSupported() && session.activationState == .activated && session.isWatchAppInstalled
            #else
                WCSession.isSupported() && session.activationState == .activated
            #endif
        }

        public var hasContentPending: Bool { WCSession.isSupported() && session.hasContentPending }

        public func transferFile(_ file: FilePath, metadata: [String: String]) {
            session.transferFile(URL(fileURLWithPath: file.string), metadata: metadata)
        }

        public func transferUserInfo(_ userInfo: [String: String]) { session.transferUserInfo(userInfo) }

        public var outstandingFileTransfers: [[String: String]] {
            session.outstandingFileTransfers.compactMap { $0.file.metadata as? [String: String] }
        }

        public var outstandingUserInfoTransfers: [[String: String]] {
            session.outstandingUserInfoTransfers.compactMap { $0.userInfo as? [String: String] }
        }

        public var context: Data? { session.applicationContext[Self.contextKey] as? Data }

        public func setContext(_ context: Data?) throws {
            var all = session.applicationContext
            all[Self.contextKey] = context
            try session.updateApplicationContext(all)
        }

        public var receivedContext: Data? { session.receivedApplicationContext[Self.contextKey] as? Data }

        public func cancelFileTransfers(where isMeant: ([String: String]) -> Bool) {
            for transfer in session.outstandingFileTransfers {
                if let metadata = transfer.file.metadata as? [String: String], isMeant(metadata) { transfer.cancel() }
            }
        }

        // MARK: WCSessionDelegate

        public func session(
            _: WCSession, activationDidCompleteWith _: WCSessionActivationState, error _: (any Error)?
        ) { delegate?.sessionDidChange() }

        public func sessionReachabilityDidChange(_: WCSession) { delegate?.sessionDidChange() }

        public func session(_: WCSession, didReceiveApplicationContext _: [String: Any]) {
            delegate?.sessionDidChange()
        }

        public func session(_: WCSession, didReceiveUserInfo userInfo: [String: Any] = [:]) {
            _ = delegate?.session(didReceiveUserInfo: userInfo)
        }

        public func session(_: WCSession, didReceive file: WCSessionFile) {
            _ = delegate?.session(didReceiveFile: FilePath(file.fileURL.path), metadata: file.metadata ?? [:])
        }

        public func session(_: WCSession, didFinish transfer: WCSessionFileTransfer, error: (any Error)?) {
            delegate?.session(didFinishFile: transfer.file.metadata ?? [:], failure: error)
        }

        public func session(_: WCSession, didFinish transfer: WCSessionUserInfoTransfer, error: (any Error)?) {
            delegate?.session(didFinishUserInfo: transfer.userInfo, failure: error)
        }

        #if os(iOS)
            public func sessionDidBecomeInactive(_: WCSession) {}

            /// Another watch was switched to.
            public func sessionDidDeactivate(_: WCSession) {
                session.activate()
                delegate?.counterpartDidChange()
            }

            public func sessionWatchStateDidChange(_: WCSession) { delegate?.sessionDidChange() }
        #endif
    }
#endif

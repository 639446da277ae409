#if canImport(CoreData) && os(iOS)
    import CoreData
    import ShipStoreTransfers
    import SwiftUI

    @main struct RecipesApp: App {
        private let container = NSPersistentContainer(name: "Recipes")
        private let session = WatchConnectivitySession()
        private let transfers: PhoneTransfers?

        init() {
            container.loadPersistentStores { _, error in if let error { print(error) } }
            guard let store = container.persistentStoreCoordinator.persistentStores.first?.url else {
                transfers = nil
                return
            }
            transfers = try? PhoneTransfers(of: store, over: session, in: .applicationSupportDirectory)
            guard let sender = transfers?.sender else { return }
            session.activate(for: sender)
            Task { await sender.run() }
            Task {
                let saves = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidSave)
                for await _ in saves.map({ _ in () }) { sender.storeDidChange() }
            }
        }

        var body: some Scene {
            WindowGroup { Text("Recipes").environment(\.managedObjectContext, container.viewContext) }
        }
    }
#endif

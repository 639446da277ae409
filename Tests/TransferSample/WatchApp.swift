#if canImport(SwiftUI) && os(watchOS)
    import ShipStoreTransfers
    import SwiftUI

    @main struct RecipesWatchApp: App {
        private let session = WatchConnectivitySession()
        private let transfers: WatchTransfers?

        init() {
            transfers = try? WatchTransfers(over: session, in: .applicationSupportDirectory)
            guard let receiver = transfers?.receiver else { return }
            session.activate(for: receiver)
            Task { await receiver.run() }
        }

        var body: some Scene {
            WindowGroup { if let transfers { RecipeList(recipes: transfers.recipes) } }
                .backgroundTask(.watchConnectivity) { await transfers?.receiver.catchUp() }
        }
    }

    struct RecipeList: View {
        let recipes: Recipes
        @State private var names: [String] = []

        var body: some View {
            List(names, id: \.self) { Text($0) }.task {
                guard let changes = try? recipes.changes() else { return }
                for await _ in changes { names = (try? await recipes.names()) ?? names }
            }
        }
    }
#endif

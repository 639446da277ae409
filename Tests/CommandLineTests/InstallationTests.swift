import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct InstallationTests {
    private static let packaging = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("Packaging")

    /// What a shell offers for the last of the words.
    private func offers(_ words: String, on desk: Desk) async throws -> [String] {
        let outcome = try await desk.bash(
            """
            source <("$SHIP" --generate-completion-script bash)
            COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
            _ship-store "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" || true
            printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        return outcome.lines.sorted()
    }

    @Test func `a shell completes commands, options, files and folders`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try Folder.make(desk["Received"])
        #expect(try await offers("ship-store rest", on: desk) == ["restore"])
        #expect(try await offers("ship-store send --exc", on: desk) == ["--exclude"])
        #expect(try await offers("ship-store send Rec", on: desk) == ["Received", "Recipes.sqlite"])
        #expect(try await offers("ship-store list --into Rec", on: desk) == ["Received"])
        #expect(
            try await offers("ship-store send Recipes.sqlite --to Rec", on: desk) == ["Received", "Recipes.sqlite"])
    }

    @Test func `what is installed works, and only that is removed again`() async throws {
        let desk = try Desk()
        let outcome = try await desk.bash(
            """
            mkdir -p pages/man pages/bash pages/zsh pages/fish usr/bin usr/share/man/man1
            touch pages/man/ship-store.1 pages/bash/ship-store pages/zsh/_ship-store pages/fish/ship-store.fish
            echo other > usr/bin/other; echo other > usr/share/man/man1/ship-store-other.1
            find usr -type f | sort > before
            install='\(Self.packaging)/install.sh'
            "$install" install "$SHIP" pages "$PWD/usr"
            usr/bin/ship-store --version
            "$install" install "$SHIP" pages "$PWD/usr"
            test -f usr/share/man/man1/ship-store.1 && test -f usr/share/doc/ship-store/README.md
            "$install" uninstall "$SHIP" pages "$PWD/usr"
            find usr -type f | sort | diff before - && test ! -e usr/share/doc/ship-store
            """, timeout: .seconds(120))
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(outcome.lines.contains("0.1.0"))
    }
}

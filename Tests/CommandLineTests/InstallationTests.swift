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
            ln -sf "$SHIP" "$TMPDIR/ship-store"; PATH=$TMPDIR:$PATH
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

    @Test func `a shell completes values: levels, roles, stores and devices`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.run("trust", try await desk.id(of: "other"), "--name", "watch", "-q").expectSuccess()
        try await desk.shell("$SHIP send Recipes.sqlite --to - -q | $SHIP receive --into inbox --from - -q")
            .expectSuccess()
        #expect(try await offers("ship-store send Recipes.sqlite --level a", on: desk) == ["auto"])
        #expect(try await offers("ship-store trust watch --role ''", on: desk) == ["receiver", "relay", "sender"])
        #expect(try await offers("ship-store rollback --into inbox R", on: desk) == ["Recipes"])
        #expect(try await offers("ship-store distrust w", on: desk) == ["watch"])
        #expect(try await offers("ship-store holdings --into inbox --for w", on: desk) == ["watch"])
    }

    @Test func `a man page refers to pages that are there, says each status, and its commands can be copied`()
        async throws
    {
        let desk = try Desk()
        let outcome = try await desk.bash(
            #"""
            mkdir man; touch man/ship-store.send.1
            cat > man/ship-store.1 << 'PAGE'
            .Os
            .Sh DESCRIPTION
            It does what --keep-for says.

              ship-store send a --to - \e
                | ship-store receive --into b
            .Sh "EXIT STATUS"
            .Ex -std
            .Sh "SEE ALSO"
            .Xr ship-store.help 1 ,
            .Xr ship-store.send 1
            PAGE
            awk -v folder=man -v statuses_of='\#(Self.packaging)/../Documentation/STATUS.md' -f '\#(Self.packaging)/page.awk' man/ship-store.1
            """#)
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        let page = outcome.stdout
        #expect(page.contains("does what \\-\\-keep\\-for says"))
        #expect(page.contains(".nf\n  ship\\-store send a") && page.contains("receive \\-\\-into b\n.fi\n"))
        #expect(page.contains(".It 64\nthe command line") && page.contains(".It 78\n") && !page.contains(".Ex"))
        #expect(page.contains(".Xr ship-store.send 1") && !page.contains("ship-store.help"))
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
            test -f usr/share/doc/ship-store/Documentation/GUIDE.md
            grep -qF 'ExecStart="'"$PWD/usr/bin/ship-store"'" receive --into' usr/share/systemd/user/ship-store-receive.service
            # The pages may be gone, or others.
            "$install" uninstall "$SHIP" none "$PWD/usr"
            find usr -type f | sort | diff before - && test ! -e usr/share/doc/ship-store
            if "$install" uninstall "$SHIP" pages "$PWD/usr"; then exit 1; fi
            # From and to places with spaces.
            mkdir 'a place'; cp -r pages 'a place'; "$install" install "$SHIP" 'a place/pages' "$PWD/a place/usr" "$PWD/root"
            test -f "root$PWD/a place/usr/share/doc/ship-store/CHANGELOG.md"
            """, timeout: .seconds(120))
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(outcome.lines.contains("0.1.0"))
    }
}

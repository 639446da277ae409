#!/usr/bin/env bash
# Installs what was built, or removes it again. Only files that this list names are ever written or removed.
#
#   install.sh install|uninstall PROGRAM PAGES PREFIX [DESTDIR]
set -euo pipefail
action=$1 program=$2 pages=$3 prefix=$4 root=${5-}
here=$(dirname "${BASH_SOURCE[0]}")

# From, to (below the prefix), mode.
list() {
    echo "$program bin/ship-store 755"
    for page in "$pages"/man/*.1; do echo "$page share/man/man1/$(basename "$page") 644"; done
    echo "$pages/bash/ship-store share/bash-completion/completions/ship-store 644"
    echo "$pages/zsh/_ship-store share/zsh/site-functions/_ship-store 644"
    echo "$pages/fish/ship-store.fish share/fish/vendor_completions.d/ship-store.fish 644"
    echo "$here/../README.md share/doc/ship-store/README.md 644"
    for page in "$here"/../Documentation/*.md; do echo "$page share/doc/ship-store/Documentation/$(basename "$page") 644"; done
    for unit in "$here"/systemd/*.service; do echo "$unit lib/systemd/user/$(basename "$unit") 644"; done
    echo "$here/launchd/ship-store.receive.plist share/doc/ship-store/ship-store.receive.plist 644"
    echo "$here/CHANGELOG.md share/doc/ship-store/CHANGELOG.md 644"
}

case $action in
install)
    list | while read -r from to mode; do
        target=$root$prefix/$to
        install -D -m "$mode" "$from" "$target.new"
        # The symbols are half of the program, and nobody who runs it needs them.
        if [[ $to == bin/* ]]; then strip "$target.new"; fi
        # One step: whoever starts the program meanwhile has the old one or the new one.
        mv -f "$target.new" "$target"
    done
    echo "installed $root$prefix/bin/ship-store"
    ;;
uninstall)
    list | while read -r _ to _; do rm -f "$root$prefix/$to"; done
    rmdir "$root$prefix/share/doc/ship-store/Documentation" "$root$prefix/share/doc/ship-store" 2> /dev/null || true
    echo "removed ship-store from $root$prefix"
    ;;
*)
    echo "install.sh: install or uninstall, not $action" >&2
    exit 64
    ;;
esac

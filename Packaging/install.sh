#!/usr/bin/env bash
# Installs what was built, or removes it again. Only files that this list names are ever written, and only those that were written removed.
#
#   install.sh install|uninstall PROGRAM PAGES PREFIX [DESTDIR]
set -euo pipefail
action=$1 program=$2 pages=$3 prefix=$4 root=${5-}
here=$(dirname "${BASH_SOURCE[0]}")
# Make hands on a ~ as it is, and units need whole paths.
[[ $prefix == '~/'* ]] && prefix=$HOME/${prefix#'~/'}
[[ $prefix == /* ]] || prefix=$PWD/$prefix
# The list of what was installed, below the prefix.
installed=share/doc/ship-store/files

# Mode, to (below the prefix), from.
list() {
    echo "755 bin/ship-store $program"
    for page in "$pages"/man/*.1; do echo "644 share/man/man1/$(basename "$page") $page"; done
    echo "644 share/bash-completion/completions/ship-store $pages/bash/ship-store"
    echo "644 share/zsh/site-functions/_ship-store $pages/zsh/_ship-store"
    echo "644 share/fish/vendor_completions.d/ship-store.fish $pages/fish/ship-store.fish"
    echo "644 share/doc/ship-store/README.md $here/../README.md"
    for page in "$here"/../Documentation/*.md; do echo "644 share/doc/ship-store/Documentation/$(basename "$page") $page"; done
    # Below ~/.local and /usr/local too, systemd looks there [systemd.unit(5)].
    for unit in "$here"/systemd/*.service; do echo "644 share/systemd/user/$(basename "$unit") $unit"; done
    echo "644 share/doc/ship-store/ship-store.receive.plist $here/launchd/ship-store.receive.plist"
    echo "644 share/doc/ship-store/CHANGELOG.md $here/CHANGELOG.md"
}

# A unit that starts the installed program: systemd searches few folders for a name [systemd.service(5)].
unit() {
    local line path=$prefix/bin/ship-store
    path=${path//'\'/'\\'} path=${path//'"'/'\"'} path=${path//'%'/'%%'}
    while IFS= read -r line; do
        if [[ $line == 'ExecStart=ship-store '* ]]; then line="ExecStart=\"$path\"${line#ExecStart=ship-store}"; fi
        printf '%s\n' "$line"
    done < "$1"
}

case $action in
install)
    mkdir -p "$root$prefix/$(dirname "$installed")"
    # First, so that what is installed by half can be removed.
    { list | cut -d ' ' -f 2; echo "$installed"; } > "$root$prefix/$installed.new"
    mv -f "$root$prefix/$installed.new" "$root$prefix/$installed"
    list | while read -r mode to from; do
        target=$root$prefix/$to
        install -D -m "$mode" "$from" "$target.new"
        case $to in
        # The symbols are half of the program, and nobody who runs it needs them.
        bin/*) strip "$target.new" ;;
        share/systemd/*) unit "$from" > "$target.new" ;;
        esac
        # One step: whoever starts the program meanwhile has the old one or the new one.
        mv -f "$target.new" "$target"
    done
    echo "installed $root$prefix/bin/ship-store"
    ;;
uninstall)
    [[ -f $root$prefix/$installed ]] || {
        echo "install.sh: $root$prefix/$installed, the list of what was installed, is not there: nothing is removed" >&2
        exit 66
    }
    while read -r to; do rm -f "$root$prefix/$to"; done < "$root$prefix/$installed"
    rmdir "$root$prefix/share/doc/ship-store/Documentation" "$root$prefix/share/doc/ship-store" 2> /dev/null || true
    echo "removed ship-store from $root$prefix"
    ;;
*)
    echo "install.sh: install or uninstall, not $action" >&2
    exit 64
    ;;
esac

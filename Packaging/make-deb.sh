#!/usr/bin/env bash
# Makes a Debian package of what was built: make-deb.sh PROGRAM PAGES FOLDER. Its path is written to standard output.
set -euo pipefail
program=$1 pages=$2 folder=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$("$program" --version)
architecture=$(dpkg --print-architecture)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
"$here/install.sh" install "$program" "$pages" /usr "$root" >&2
gzip -9n "$root"/usr/share/man/man1/*.1 "$root/usr/share/doc/ship-store/CHANGELOG.md"
mv "$root/usr/share/doc/ship-store/CHANGELOG.md.gz" "$root/usr/share/doc/ship-store/changelog.gz"
# Where Debian's own packages keep it.
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_ship-store" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
mkdir -p "$root/usr/lib"
mv "$root/usr/share/systemd" "$root/usr/lib/systemd"
# dpkg has a list of its own.
rm "$root/usr/share/doc/ship-store/files"

# What the program needs at run time is what it is linked with: which packages bring that, dpkg knows best.
mkdir -p "$work/debian"
printf 'Source: ship-store\n\nPackage: ship-store\nArchitecture: any\n' > "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O -e root/usr/bin/ship-store 2> "$work/complaints") || {
    cat "$work/complaints" >&2
    exit 1
}
# But of packed relocations it does not know that glibc reads them from 2.36 on.
if readelf --version-info "$root/usr/bin/ship-store" | grep GLIBC_ABI_DT_RELR > /dev/null; then
    depends="$depends, libc6 (>= 2.36)"
fi
mkdir "$root/DEBIAN"
cat > "$root/DEBIAN/control" << CONTROL
Package: ship-store
Version: $version
Architecture: $architecture
Maintainer: ship-store
Section: database
Priority: optional
Installed-Size: $(du -sk "$root" | cut -f 1)
Depends: ${depends#shlibs:Depends=}
Description: ship a live SQLite store to a companion device
 ship-store takes a consistent, compact copy of a live SQLite or Core Data
 store, makes it small, carries it over any byte stream, verifies it on the
 other side, and installs it in one step under readers that never notice.
CONTROL
(cd "$root" && find usr -type f -exec md5sum {} + > DEBIAN/md5sums)
mkdir -p "$folder"
package=$folder/ship-store_${version}_$architecture.deb
# One step: whoever installs it meanwhile has the old one or the new one.
dpkg-deb --root-owner-group --build "$root" "$package.new" >&2
mv -f "$package.new" "$package"
echo "$package"

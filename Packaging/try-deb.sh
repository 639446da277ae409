#!/usr/bin/env bash
# Tries a package where nothing else is: try-deb.sh PACKAGE installs it in a fresh Debian, ships a store there, and removes
# it. It must be root, and has Debian's packages from where this system has them.
set -euo pipefail
package=$(realpath "$1")
((EUID == 0)) || { echo "try-deb.sh: run it as root: it makes a Debian of its own in a temporary folder" >&2; exit 77; }
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
release=$(. /etc/os-release && echo "$VERSION_CODENAME")

# What is mounted below goes with this process.
[[ ${IN_NAMESPACE-} ]] || IN_NAMESPACE=1 exec unshare --mount "$0" "$package"
root=$(mktemp -d)
chmod 755 "$root"
# What the session has said of temporary folders, as libpam-tmpdir does, is not so in the other Debian.
unset TMPDIR TMP TEMP TEMPDIR
trap 'umount -q -l "$root/proc"; umount -q -l -R "$root/dev"; rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase "$release" "$root" "$mirror" > "$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; exit 1; }
rm -f "$root.log"
# Swift's runtime finds a program's arguments in /proc.
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2> /dev/null || true
cp "$package" "$root/package.deb"
before=$(chroot "$root" find / -xdev -path '*ship-store*' -not -path '/proc/*')
chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /package.deb \
    > /dev/null 2>&1
chroot "$root" ship-store --version
# The whole story, both ends, and a child of its own, in a system that has never seen Swift.
chroot "$root" ship-store demo
chroot "$root" sh -c 'test -s /usr/share/man/man1/ship-store.1.gz && bash -n /usr/share/bash-completion/completions/ship-store'
chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq ship-store > /dev/null 2>&1
after=$(chroot "$root" find / -xdev -path '*ship-store*' -not -path '/proc/*')
[[ $before == "$after" ]] || { echo "left behind: $after" >&2; exit 1; }
echo "installed, tried and removed: nothing is left"

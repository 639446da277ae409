#!/usr/bin/env bash
# Writes the man pages and the shells' completions of a built program, by the argument parser's own generators.
#
#   generate-pages.sh PROGRAM FOLDER
set -euo pipefail
program=$(realpath "$1") folder=$2
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The generator of man pages is a tool of the argument parser's package; its plugin would build everything once more.
parser=.build/checkouts/swift-argument-parser
swift build --package-path "$parser" --scratch-path .build/argument-parser --product generate-manual
generator=$(swift build --package-path "$parser" --scratch-path .build/argument-parser --show-bin-path)/generate-manual

rm -rf "$folder"
mkdir -p "$folder/man" "$folder/bash" "$folder/zsh" "$folder/fish"
# The date is that of the sources, so that the same sources give the same pages.
date=$(git log -1 --format=%cs 2> /dev/null || date -u +%F)
"$generator" "$program" --multi-page --date "$date" --output-directory "$folder/man"
# Some commands are the program's own affair.
for page in "$folder"/man/ship-store.*.*; do
    command=${page##*/ship-store.}
    "$program" --help | grep -q "^  ${command%.1} " || rm "$page"
done
for page in "$folder"/man/*.1; do
    awk -v folder="$folder/man" -v statuses_of=Documentation/STATUS.md -f Packaging/page.awk "$page" > "$page.new"
    mv "$page.new" "$page"
done
"$program" --generate-completion-script bash > "$folder/bash/ship-store"
"$program" --generate-completion-script zsh > "$folder/zsh/_ship-store"
"$program" --generate-completion-script fish > "$folder/fish/ship-store.fish"

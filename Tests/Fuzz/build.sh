#!/usr/bin/env bash
# Builds a target with libFuzzer and Address Sanitizer: build.sh NAME OUT. The modules that the first line of the target
# names are compiled from their sources, in that order, and nothing else of the package. Libraries that its second line may
# name are those of the package's own build, without the sanitizer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

name=$1 out=$2
type=${name^}Target
target=Tests/Fuzz/Targets/$type.swift
objects=.build/fuzz/modules
mkdir -p "$objects"
# What the modules build upon, as the package builds it.
libraries=(
    SystemPackage CSystem CPlatform CLibrary EssentialFoundation Crypto CryptoBoringWrapper CCryptoBoringSSL CCryptoBoringSSLShims CXKCP
    CXKCPShims
)
for library in $(sed -n '2s,^// libraries:,,p' "$target"); do
    libraries+=("$library")
done
for library in "${libraries[@]}"; do
    [[ -e .build/debug/$library.build ]] || swift build --target "$library" >&2
done
mapfile -t built < <(for library in "${libraries[@]}"; do find ".build/debug/$library.build/" -name '*.o'; done)
flags=(-O -D Libdeflate -gline-tables-only -wmo -sanitize=fuzzer,address -package-name ship_store -swift-version 6 -parse-as-library
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -I Sources/CZlib -I Sources/CDeflate -I "$objects"
    -I Sources/CPlatform/include -I .build/debug/Modules -I .build/checkouts/swift-system/Sources/CSystem/include)

# A module is compiled anew if its sources, or a module before it, have changed.
linked=()
stale=
for module in $(sed -n '1s,^// modules:,,p' "$target"); do
    object=$objects/$module.o
    folder=Sources/$module
    [[ -d $folder ]] || folder=Tests/$module
    if [[ $stale || ! -e $object || $(find "$folder" Sources/C* Tests/Fuzz/build.sh -newer "$object" -print -quit) ]]; then
        stale=yes
        echo "fuzz: compiling $module" >&2
        mapfile -t sources < <(find "$folder" -name '*.swift' | sort)
        swiftc "${flags[@]}" -module-name "$module" -emit-module -emit-module-path "$objects/$module.swiftmodule" \
            -c -o "$object" "${sources[@]}"
        touch "$object"  # it stays as old as it was where it did not change
    fi
    linked+=("$object")
done

# What libFuzzer calls with one input after the other [llvm.org/docs/LibFuzzer.html#fuzz-target].
entry=.build/fuzz/${type}Entry.swift
cat > "$entry" <<EOF
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    $type.run(start.map { Array(UnsafeBufferPointer(start: \$0, count: count)) } ?? [])
    return 0
}
EOF
# The linker tells of symbols of the sanitizer that it does not export, by the hundred.
swiftc "${flags[@]}" -module-name "fuzz_$name" -o "$out" "$entry" "$target" Tests/Fuzz/Support/*.swift "${linked[@]}" \
    "${built[@]}" -lz -ldeflate 2> >(grep -v 'Cannot export local symbol' >&2)

#!/usr/bin/env bash
# The documented build goes on where a compiler warns: a newer one knows further warnings. The developers' build ends.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cd "$TIDE_SOURCE_DIR" || exit 1
# -Wframe-larger-than=1 warns of the variables of this file.
build() { # PRESET
    cmake --preset "$1" -B "$made/$1" -D CMAKE_C_FLAGS=-Wframe-larger-than=1 >"$made/log" 2>&1 || return 2
    ninja -C "$made/$1" schema/CMakeFiles/tide_schema.dir/base/zstd.c.o >>"$made/log" 2>&1
}
build release || { tail "$made/log"; echo "a warning ends the documented build"; exit 1; }
grep -q 'Wframe-larger-than' "$made/log" || { tail "$made/log"; echo "the compiler did not warn"; exit 1; }
build dev
[ $? = 1 ] && grep -q 'Werror=frame-larger-than' "$made/log" || { tail "$made/log"; echo "a warning does not end the developers' build"; exit 1; }

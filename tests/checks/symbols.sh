#!/usr/bin/env bash
# Expects that the programs export no symbol. A library would call an exported function instead of its own function of
# the same name (jansson calls json_null).
set -euo pipefail
dir=$(mktemp -d "${TMPDIR:-/tmp}/tide-symbols.XXXXXX")
trap 'rm -rf "$dir"' EXIT
exports() { nm -D --defined-only "$1" | awk '$2 ~ /^[TDBRW]$/ && $3 !~ /@/ { print $3 }'; }

# The check can fail: it finds an exported symbol.
printf '#include <jansson.h>\nint json_null_of;\njson_t *json_null(void) { return 0; }\nint main(void) { json_decref(json_null()); return json_object() == 0; }\n' >"$dir/bad.c"
"${CC:-cc}" -w -rdynamic -o "$dir/bad" "$dir/bad.c" $(pkg-config --libs jansson) || { echo "FAIL: no program that exports a symbol"; exit 1; }
exports "$dir/bad" | grep -x json_null >/dev/null || { echo "FAIL: an exported symbol is not seen"; exit 1; }

faults=0
for program in "$TIDE_BIN"/tidemark-*; do
    found=$(exports "$program")
    [ -z "$found" ] || { echo "${program##*/} exports $found"; faults=1; }
done
exit $faults

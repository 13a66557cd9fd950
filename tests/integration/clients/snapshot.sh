#!/usr/bin/env bash
# Compares snapshots of the compliance records on a running stack: the header for C and the API give the same answer
# for every address, ledger after ledger. Signatures are checked. A snapshot that is old, cut, forged or of another
# ledger gives no answer.
. "$(dirname "$0")/_clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
command -v openssl >/dev/null || { echo "no openssl"; exit 1; }
cc -std=c99 -O2 -Wall -Wextra -Werror -shared -fPIC -I "$TIDE_SOURCE_DIR/api/clients/c" -o "$work/reader.so" "$here/_mirror_reader.c" || fail "the header does not compile"
export TIDEMARK_API_RATE_LOOKUP=0 # all questions here come from one client
"$TIDE_SOURCE_DIR/tools/with-stack" --kyc '' --ledgers 128 -- timeout 500 "$python" "$here/_snapshot.py" "$work/reader.so" "${TIDE_LONG:+1000000}" || fail "see above"
cp "$here/_snapshot.mjs" "$packages/"
(cd "$packages" && node _snapshot.mjs "$work") || fail "the TypeScript package"

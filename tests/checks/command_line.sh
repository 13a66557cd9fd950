#!/usr/bin/env bash
# Runs the programs without a database: help, man pages, completion, and the refusals of mistyped words.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/tide-cli.XXXXXX")
trap 'rm -rf "$dir"' EXIT
unset "${!TIDEMARK_@}"

# ends CODE PROGRAM [ARGUMENT]...: runs the program and expects the exit code. The output is in $dir/out and $dir/err.
ends() {
    local want=$1 code=0
    "$TIDE_BIN/$2" "${@:3}" >"$dir/out" 2>"$dir/err" </dev/null || code=$?
    [ $code = "$want" ] || fail "${*:2}: exit $code, not $want: $(tail -1 "$dir/err")"
}
# says FILE TEXT: expects the text in $dir/FILE.
says() { grep -qF -e "$2" "$dir/$1" || fail "\"$2\" is not in: $(cat "$dir/$1")"; }

# Without arguments a program prints one page on standard error.
ends 64 tidemark-indexer
[ "$(wc -l <"$dir/err")" -le 50 ] && [ ! -s "$dir/out" ] || fail "no arguments: $(wc -l <"$dir/err") lines"
says err 'usage: tidemark-indexer COMMAND'
says err '--help all'
ends 64 tidemark-sim

ends 0 tidemark-indexer --help
[ "$(wc -l <"$dir/out")" -le 50 ] || fail "--help: $(wc -l <"$dir/out") lines"
mapfile -t commands < <(grep -oP '^  \K[a-z]+(?=  +[A-Z])' "$dir/out")
[ ${#commands[@]} -ge 12 ] || fail "commands: ${commands[*]}"
for command in "${commands[@]}"; do
    for words in "$command --help" "help $command" "--help $command"; do
        # shellcheck disable=SC2086 # two words
        ends 0 tidemark-indexer $words
        says out "usage: tidemark-indexer $command"
        says out "Example:"
    done
done
ends 0 tidemark-indexer run --lake /x --help
says out '--poll-ms N'
! grep -q -e '--api-listen' "$dir/out" || fail "run --help shows the API's settings"
ends 0 tidemark-indexer --help all
says out '--api-listen TEXT'
says out '  75    database failed'
ends 0 tidemark-api --help
says out '--api-listen TEXT'
! grep -q -e '--batch-mib' "$dir/out" || fail "the API shows the indexer's settings"
ends 0 tidemark-attester --help
says out 'requeue'
ends 0 tidemark-attester requeue --help
says out 'usage: tidemark-attester requeue'

# A mistyped word: the message suggests the right name, and the exit code is 64.
ends 64 tidemark-indexer stats
says err 'no command "stats"; did you mean "status"?'
ends 64 tidemark-indexer --help stats
says err 'did you mean "status"?'
ends 64 tidemark-indexer statsu --help
says err 'did you mean "status"?'
ends 64 tidemark-indexer run --lakee=hush
says err 'unknown option --lakee; did you mean --lake?'
! grep -q hush "$dir/err" || fail "a value is shown that may be a secret"
ends 64 tidemark-indexer backfill --from 5
says err '--to N is missing'
ends 64 tidemark-indexer run extra
says err '"extra" is no option'
ends 64 tidemark-api --api-lisen x
says err 'did you mean --api-listen?'
ends 64 tidemark-attester statsu
says err 'did you mean "status"?'
ends 64 tidemark-sim wirte
says err 'did you mean "write"?'
echo 'batch_mb = 8' >"$dir/conf"
ends 78 tidemark-indexer run --config "$dir/conf"
says err 'unknown key batch_mb; did you mean batch_mib?'

# Man pages have no warnings (checked if man is installed), and bash accepts the completion.
programs='tidemark-indexer tidemark-api tidemark-attester tidemark-console'
for page in $programs tidemark.conf; do
    if [ $page = tidemark.conf ]; then ends 0 tidemark-indexer --man $page; else ends 0 $page --man; fi
    cp "$dir/out" "$dir/$page.man"
    grep -q '^\.SH NAME' "$dir/$page.man" || fail "$page: no man page"
    for program in $programs; do grep -q "^\.BR ${program/-/\\\\-} (1)" "$dir/$page.man" || fail "man $page: does not name $program"; done
    command -v man >/dev/null || continue
    LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$dir/$page.man" 2>&1 >/dev/null | { ! grep .; } || fail "$page: roff warnings"
done
for program in $programs; do
    ends 0 $program --completion bash
    cp "$dir/out" "$dir/$program.bash"
done
completes() { # WORD...: the words that bash offers for the last one
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _${1//-/_}; echo "${COMPREPLY[@]}"' - "$dir/$1.bash" "$@"
}
[ "$(completes tidemark-indexer ver)" = verify ] || fail "completion of ver: $(completes tidemark-indexer ver)"
[ "$(completes tidemark-indexer verify --fr)" = --from ] || fail "completion of verify --fr"
[ "$(completes tidemark-indexer run --proof e)" = events ] || fail "completion of run --proof e"
[ "$(completes tidemark-api --api-lis)" = --api-listen ] || fail "completion of --api-lis"
[ "$(completes tidemark-attester --onc)" = --once ] || fail "completion of --onc"
echo ok

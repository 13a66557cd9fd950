#!/usr/bin/env bash
# Proves that every check can fail: each runs on a small tree that keeps its rule, then on one that breaks it.
set -euo pipefail
check=$TIDE_SOURCE_DIR/tools/check
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fresh() { # the good tree again
    rm -rf "$dir/t"
    [ ! -e "$dir/good" ] || { cp -R "$dir/good" "$dir/t"; return; }
    mkdir -p "$dir/t/include/tidemark" "$dir/t/schema/base" "$dir/t/indexer/decode" "$dir/t/tools/packaging"
    cp "$TIDE_SOURCE_DIR/include/tidemark/"{banned,base,slice}.h "$dir/t/include/tidemark/"
    cp "$TIDE_SOURCE_DIR/.clang-format" "$dir/t/"
    for folder in include schema schema/base indexer tools tools/packaging; do echo '# here' >"$dir/t/$folder/README.md"; done
    printf '`banned.h`, `base.h`, `tidemark/slice.h`\n' >>"$dir/t/include/README.md"
    grep -oh 'tide_\w*' "$dir/t/include/tidemark/"*.h | sort -u >"$dir/t/tools/names.txt" # their comments mention functions that are not here
    echo '`names.txt`' >>"$dir/t/tools/README.md"
    printf '\n| file | what |\n|---|---|\n| `*.c` | all |\n' >>"$dir/t/schema/base/README.md"
    echo '`events.md`' >>"$dir/t/tools/packaging/README.md"
    printf '\n| place | status | rejects | why |\n|---|---|---|---|\n| `decode.c` `g` | LIMIT | a | b |\n' >>"$dir/t/indexer/README.md"
    printf '| `one.made` | info/warn | all | a |\n| `two.made` | warn | all | b |\n' >"$dir/t/tools/packaging/events.md"
    printf 'void e(bool a)\n{\n    tide_log(a ? TIDE_INFO : TIDE_WARN, "one.made", "x=%%s", ")"); /* tide_log(0) */\n    tide_log(TIDE_WARN, "two.made", "");\n}\n' >"$dir/t/schema/base/e.c"
    printf '#include "tidemark/slice.h"\n\nint g(int a);\nint g(int a)\n{\n    return a == TIDE_E_CHAIN ? 0 : TIDE_E_LIMIT;\n}\n' >"$dir/t/indexer/decode/decode.c"
    printf '#include "tidemark/slice.h"\n\nint f(int a);\nint f(int a)\n{\n    return a;\n}\n' >"$dir/t/schema/base/a.c"
    cp -R "$dir/t" "$dir/good"
}

declare -A passed
breaks() { # CHECK WHAT: the tree must not pass, and the good tree must. What it said is in $dir/broken
    if "$check/$1" "$dir/t" >"$dir/broken" 2>&1; then
        echo "FAIL: $1 lets pass: $2"
        exit 1
    fi
    fresh
    [ -z "${passed[$1]:-}" ] || return 0
    "$check/$1" "$dir/t" >"$dir/out" 2>&1 || { echo "FAIL: $1 refuses a good tree:"; cat "$dir/out"; exit 1; }
    passed[$1]=yes
}

fresh
echo '#include "indexer/x.h"' >>"$dir/t/schema/base/a.c"; breaks arrows 'schema includes indexer'
echo '#include "../x.h"' >>"$dir/t/schema/base/a.c"; breaks arrows 'upwards'
echo '#include <curl/curl.h>' >>"$dir/t/schema/base/a.c"; breaks arrows 'a library outside its file'
echo '#include "schema/x.h"' >>"$dir/t/include/tidemark/slice.h"; breaks arrows 'include includes schema'
echo '#include "indexer/write/x.h"' >>"$dir/t/indexer/decode/decode.c"; breaks arrows 'decode includes write'
mkdir -p "$dir/t/indexer/write/tip"; echo '#include "indexer/write/load/load.h"' >"$dir/t/indexer/write/tip/t.c"; breaks arrows 'the tip includes the loader'
mkdir -p "$dir/t/indexer/write/rows"; echo '#include "indexer/write/writer.h"' >"$dir/t/indexer/write/rows/r.c"; breaks arrows 'rows includes the writer above'
echo '#include "schema/hot/x.h"' >>"$dir/t/schema/base/a.c"; breaks arrows 'base includes hot'
echo 'int b(void);' >"$dir/t/schema/base/b.h"; echo '#include "schema/base/b.h"' >>"$dir/t/indexer/decode/decode.c"; breaks arrows 'a header that two folders include beside its source'
cp "$dir/t/include/tidemark/slice.h" "$dir/t/include/tidemark/lone.h"; breaks arrows 'a header of include that one folder includes'
sed -i '/tidemark/d' "$dir/t/indexer/decode/decode.c"; breaks arrows 'a shared header that one folder alone includes'
echo '#include "schema/base/b.h"' >"$dir/t/schema/base/a.h"; echo '#include "schema/base/a.h"' >"$dir/t/schema/base/b.h"; breaks arrows 'a cycle'
for file in a:b b:c c:a; do printf 'int of_%s(int a)\n{\n    return of_%s(a);\n}\n' "${file%:*}" "${file#*:}" >"$dir/t/schema/base/${file%:*}.c"; done; breaks circles 'three files in a circle'
{ echo 'void g(void)'; echo '{'; printf '    f(1);\n%.0s' {1..70}; echo '}'; } >>"$dir/t/schema/base/a.c"; breaks sizes 'a long function'
printf '/* */\n%.0s' {1..701} >>"$dir/t/schema/base/a.c"; breaks sizes 'a long file'
printf 'int g(int a, int b, int c, int d, int e, int h, int i, int j)\n{\n    return a;\n}\n' >>"$dir/t/schema/base/a.c"; breaks sizes 'eight parameters'
printf '/*%0100d */\n' 0 >>"$dir/t/schema/base/a.c"; breaks sizes 'a long line'
printf '\tint x;\n' >>"$dir/t/schema/base/a.c"; breaks sizes 'a tab'
echo 'void h(char *a) { system(a); }' >>"$dir/t/schema/base/a.c"; breaks calls 'system'
sed -i '/strtok/d' "$dir/t/include/tidemark/banned.h"; breaks calls 'strtok not poisoned'
echo 'tide_slice s(struct nowhere x);' >"$dir/t/include/tidemark/lone.h"; breaks headers 'a header that needs another'
printf 'int h(int a)\n{\n    return TIDE_E_LIMIT;\n}\n' >>"$dir/t/indexer/decode/decode.c"; breaks rejections 'a function without a row'
sed -i 's/TIDE_E_LIMIT/tide_fail(TIDE_E_RANGE) + &/' "$dir/t/indexer/decode/decode.c"; breaks rejections 'a status without a row'
sed -i 's/TIDE_E_LIMIT/0/' "$dir/t/indexer/decode/decode.c"; breaks rejections 'a row without a place'
sed -i 's/`decode.c` `g` | LIMIT/`decode.c` | LIMIT/' "$dir/t/indexer/README.md"; breaks rejections 'a limit without its function'
echo 'int  x ;' >>"$dir/t/schema/base/a.c"; breaks format 'two blanks'
echo x >"$dir/t/notes.txt"; breaks folders 'a file at the top'
rm "$dir/t/schema/base/README.md"; breaks folders 'no README'
printf '#!/bin/sh\n' >"$dir/t/indexer/run"; breaks folders 'a script that does not run'
touch "$dir/t/indexer/decode/new.c"; breaks folders 'a file without a line, deep'
echo '/* New. */' >"$dir/t/indexer/decode/new.c"
"$check/folders" "$dir/t" || { echo 'FAIL: folders refuses a file that says what it is'; exit 1; }
(cd "$dir/t" && "$check/folders" --list schema/* && ! "$check/folders" --list nowhere 2>/dev/null) >"$dir/out" || { echo 'FAIL: folders --list takes no pattern with a file, or takes a folder that is not there'; exit 1; }
touch "$dir/t/schema/base/new.h"; breaks folders 'a file that no pattern names'
echo '| `gone.c` | what |' >>"$dir/t/schema/base/README.md"; breaks folders 'a line about a file that is not there'
printf '/* see /%s/me/x */\n' home >>"$dir/t/schema/base/a.c"; breaks folders 'a path of a machine'
printf 'int cr%s_size(void);\n' ew >>"$dir/t/schema/base/a.c"; breaks words 'a word inside an identifier'
printf 'void f%sB%s(void);\n' ake eat >>"$dir/t/schema/base/a.c"; breaks words 'a word in camel case'
touch "$dir/t/indexer/re""check.c"; breaks words 'a word in a file name'
printf '/* for all that is\n * known %s */\n' now >>"$dir/t/schema/base/a.c"; breaks words 'a phrase across lines'
printf 'void heartbeat(void); /* the "%s" account */\n' no''body >>"$dir/t/schema/base/a.c"
"$check/words" "$dir/t" || { echo 'FAIL: words refuses what is right'; exit 1; }
manual() { printf '%s\n' '# here' '```'"$1" "$2" '```' >"$dir/t/schema/README.md"; }
manual '' x; breaks manuals 'a block that does not say what it is'
manual 'sh run by tests/none.sh' x; breaks manuals 'a test that does not exist'
manual 'sh not run: no' x; breaks manuals 'a mark without a reason'
manual 'sh later' x; breaks manuals 'a mark that says nothing'
manual text 'tidemark-indexer status'; breaks manuals 'commands that are called text'
manual 'sh not run: a reason that holds' 'sudo tidemark-indexer run --laek x | cat'; breaks manuals 'an unknown option'
manual sh 'true && tidemark-indexer rnu'; breaks manuals 'an unknown command'
manual sh "tools/none -- sh -c 'true'"; breaks manuals 'an unknown program'
manual sh "sh -c 'tidemark-indexer status --wtach 5'"; breaks manuals 'an unknown option in quotes'
echo 'Or `tide''mark-sim write --laek x`.' >>"$dir/t/schema/README.md"; breaks manuals 'an unknown option in a sentence'
echo '/* as `tide''mark-indexer rnu` does */' >>"$dir/t/schema/base/a.c"; breaks manuals 'an unknown command in a comment'
printf '/* What'' the row holds. */\n' >>"$dir/t/schema/base/a.c"; breaks comments 'a comment that begins with What'
printf 'int x; /*\n * Of'' rows: the last. */\n' >>"$dir/t/schema/base/a.c"; breaks comments 'a comment of two lines that begins with Of'
printf -- '-- It'' is kept.\nSELECT 1;\n' >"$dir/t/schema/base/a.sql"; breaks comments 'a comment of SQL'
printf "COMMENT ON TABLE a IS 'Who"" signed it.';\n" >"$dir/t/schema/base/a.sql"; breaks comments 'a stored comment'
printf 'const char *s = "/* What */"; /* Whatsoever */\n' >>"$dir/t/schema/base/a.c"
"$check/comments" "$dir/t" || { echo 'FAIL: comments refuses what is right'; exit 1; }
fresh
printf 'static int run(int a)\n{\n    return a;\n}\n' >>"$dir/t/schema/base/a.c"; breaks names 'a bare verb'
printf 'static const struct x *find(\n    int a)\n{\n    return 0;\n}\n' >>"$dir/t/schema/base/a.c"; breaks names 'a bare verb that returns a pointer'
printf 'static int run(int a);\nstatic int run_job(int a)\n{\n    return a;\n}\n' >>"$dir/t/schema/base/a.c"
"$check/names" "$dir/t" || { echo 'FAIL: names refuses what is right'; exit 1; }
fresh
sed -i '/two.made/d' "$dir/t/tools/packaging/events.md"; breaks events 'an event that is not listed'
sed -i '/two.made/d' "$dir/t/schema/base/e.c"; breaks events 'an event that no program writes'
sed -i 's/TIDE_WARN, "two/TIDE_ERROR, "two/' "$dir/t/schema/base/e.c"; breaks events 'another level'
mv "$dir/t/schema/base/e.c" "$dir/t/indexer/"; breaks events 'another program'
sed -i 's/"two.made"/name/' "$dir/t/schema/base/e.c"; breaks events 'an event that the call does not name'
sed -i '1h;1d;2G' "$dir/t/tools/packaging/events.md"; breaks events 'rows out of order'
echo '`two.maid` in the log' >>"$dir/t/indexer/README.md"; breaks events 'a manual that names another event'
for reader in 'he''ad -n 1' 'gre''p -aq x' 'LC_ALL=C se''d 1q' 're''ad -r line'; do
    printf '#!/bin/sh\nls |\n  %s\n' "$reader" >"$dir/t/tools/run.sh"; chmod +x "$dir/t/tools/run.sh"; breaks pipes "$reader"
done
printf '#!/bin/sh\nls || he''ad x; ls | se''d -n 1p; gre''p -q x y; # ls | he''ad\n' >"$dir/t/schema/base/good.sh"
"$check/pipes" "$dir/t" || { echo 'FAIL: pipes refuses what is right'; exit 1; }
rm "$dir/t/schema/base/good.sh"
for draws in 'g(draw(d), dice_u64(d));' 'int a[] = { draw(d), draw(d) };' 'return draw(d) >> draw(d);' 'if (g(draw(d) ? 1 : 2, draw(d))) {}' 'g(1, h(draw(d)) + draw(d));'; do
    mkdir "$dir/t/tools/sim"; echo '# here' >"$dir/t/tools/sim/README.md"
    printf 'int draw(struct dice *d)\n{\n    return dice_u64(d);\n}\nint f(struct dice *d)\n{\n    %s\n}\n' "$draws" >"$dir/t/tools/sim/a.c"; breaks dice "$draws"
done
mkdir "$dir/t/tools/sim"
printf 'int f(struct dice *d)\n{\n    /* dice_u64(d) + dice_u64(d) */\n    int a = dice_u64(d), b = dice_u64(d);\n    for (a = dice_u64(d); dice_u64(d) && dice_u64(d); b += dice_u64(d))\n        g(dice_u64(d) ? dice_u64(d) : h(dice_u64(d)), a, "dice_u64(d)");\n    return g(dice_u64(d));\n}\n' >"$dir/t/tools/sim/a.c"
"$check/dice" "$dir/t" || { echo 'FAIL: dice refuses what is right'; exit 1; }
rm -r "$dir/t/tools/sim"
bound() { printf '#define A_MAX 3\n' >"$dir/t/$1"; echo "${2:-}" >"$dir/t/${3:-schema/base/b.c}"; }
bound schema/base/b.h 'int a[A_MAX];'; breaks limits 'a bound in a header that one file uses'
bound schema/base/b.h; breaks limits 'a bound that nothing uses'
bound include/tidemark/limits.h 'int a[A_MAX];'; cp "$dir/t/schema/base/b.c" "$dir/t/schema/base/d.c"; breaks limits 'a shared bound of one folder'
bound schema/base/b.h 'enum { B = 1, A_MAX = 4 }; int a[A_MAX];'; echo 'int b[A_MAX];' >>"$dir/t/schema/base/b.h"; breaks limits 'a bound that a file defines again'
bound schema/base/b.h 'int a[A_MAX];'; echo '/* at most A_MAX */' >>"$dir/t/schema/base/b.h"
bound include/tidemark/limits.h 'int a[A_MAX];' indexer/decode/d.c; echo 'enum { C_MAX = 2 }; int c[C_MAX] = { A_MAX };' >"$dir/t/schema/base/d.c"
"$check/limits" "$dir/t" || { echo 'FAIL: limits refuses what is right'; exit 1; }
fresh
echo '[a](nowhere.md)'  >>"$dir/t/indexer/README.md"; breaks links 'a file that is not there'
echo '[a](../schema/README.md#gone)' >>"$dir/t/indexer/README.md"; breaks links 'a heading that is not there'
printf '[a](../schema#here) [b](%s)\n' 'https://example.com' >>"$dir/t/indexer/README.md"
"$check/links" "$dir/t" || { echo 'FAIL: links refuses what is right'; exit 1; }
fresh
# Written with marks, as this file's own comments and code are read too: T is a test's group, D a folder.
for span in 'T.gone' 'T.kept`, `.gone' 'D/gone*.c' '../D/base/gone.c' 'gone.sql' 'decode.c:gone' 'ti''de_gone' 'TI''DE_GONE_S' 'tide''mark-gone run'; do
    mkdir -p "$dir/t/tests/integration"; touch "$dir/t/tests/integration/kept.sh"
    span=${span//T./integration.}; echo "see \`${span//D\//schema/}\`" >>"$dir/t/indexer/README.md"; breaks mentions "a manual: $span"
done
for comment in 'T.gone waits' 'see D/base/gone.h' 'base/gone.h' 'as put_''gone() does' 'ti''de_gone' 'tide''mark-gone runs' 'with --go''ne'; do
    comment=${comment//T./unit.}; comment=${comment//D\//schema/}
    echo "/* x, $comment */" >>"$dir/t/schema/base/a.c"
    echo "SELECT 1; -- $comment" >"$dir/t/schema/base/a.sql"
    echo "true # $comment" >"$dir/t/tools/a.sh"
    printf 'def f():\n    """Does.\n\n    %s"""\n' "$comment" >"$dir/t/tools/a.py"
    echo "# $comment" >"$dir/t/schema/CMakeLists.txt"
    breaks mentions "a comment: $comment"
    for file in schema/base/a.{c,sql} tools/a.{sh,py} schema/CMakeLists.txt; do
        grep -F "$file" "$dir/broken" >/dev/null || { echo "FAIL: mentions lets pass a comment in $file: $comment"; exit 1; }
    done
done
mkdir -p "$dir/t/tools/monitoring"; echo '`integration.''gone`' >"$dir/t/tools/monitoring/alerts.yml"; breaks mentions 'the runbook of an alert'
mkdir -p "$dir/t/tests/unit/schema" "$dir/t/tests/integration/x"; touch "$dir/t/tests/unit/schema/test_kept.c" "$dir/t/tests/integration/x/also.sh"
echo '`unit.kept`, `.also`, `unit.x`, `../schema/base/*.c`, `base/a.c`, `decode.c:g`, `tide_log`, `made.sql`, `tide_NAME_main`, `put_gone`' >>"$dir/t/indexer/README.md"
printf 'const char *s = "made.sql"; /* tests/unit/schema/test_kept.c, tests/unit/FOLDER/test_x.c, with --kept */\nint f_kept(void); /* f_kept */\nconst char *o = "--kept /* f_gone */";\n' >>"$dir/t/schema/base/a.c"
printf 'x = """\n    -- f_gone\n"""  # f_kept\n' >"$dir/t/tools/a.py"
"$check/mentions" "$dir/t" || { echo 'FAIL: mentions refuses what is right'; exit 1; }
fresh
echo 'int h(int a);' >>"$dir/t/include/tidemark/slice.h"; breaks exports 'nobody calls it'
printf 'int h(int a);\n' >>"$dir/t/include/tidemark/slice.h"; printf '\nint h(int a)\n{\n    return a ? h(0) : a;\n}\n' >>"$dir/t/schema/base/a.c"; breaks exports 'its own file alone calls it'
mkdir -p "$dir/t/tests"; printf 'int h(int a);\n' >>"$dir/t/include/tidemark/slice.h"; printf '\nint h(int a)\n{\n    return a;\n}\n' >>"$dir/t/schema/base/a.c"; echo 'int i = h(0);' >"$dir/t/tests/t.c"; breaks exports 'only tests call it'
waits() { mkdir -p "$dir/t/tests/x" "$dir/t/tools/lib"; printf "$2" >"$dir/t/tests/x/$1"; } # FILE TEXT
for loop in 'until [ -s port ]; do sleep 0.1; done' 'x=1; until a &&\n    b; do\n    sleep 1\ndone' 'while ! a; do sleep 1; done' 'f() {\n    while :; do\n        a && break\n        sleep 1\n    done\n}'; do
    waits a.sh "$loop\n"; breaks waits "shell: $loop"
done
waits a.py 'import time\nwhile not a():\n    time.sleep(1)\n'; breaks waits 'a loop of Python'
waits a.mjs 'for (;;) {\n  if (await a()) break;\n  await new Promise((r) => { setTimeout(r, 9); });\n}\n'; breaks waits 'a loop of JavaScript'
waits a.sh '# until it ends; do\nwhile sleep 5; do # until Ctrl-C\n    a\ndone\nwhile read -r a; do b; done\nwhile a; do [ $SECONDS -lt 9 ] || b; sleep 1; done\ncat <<END\nuntil a; do sleep 1; done\nEND\n'
waits a.py 'import time\nend = time.monotonic() + 9\nwhile not a():\n    assert time.monotonic() < end\n    time.sleep(1)\nwhile b():  # until it ends\n    time.sleep(1)\n'
printf 'until "$@"; do sleep 1; done\n' >"$dir/t/tools/lib/wait.sh"
"$check/waits" "$dir/t" || { echo 'FAIL: waits refuses what is right'; exit 1; }
fresh
# labels_of TEXT: what tests/labels.cmake makes of a test with this text, in which @ stands for the word label.
labels_of() {
    printf '%b' "${1//@/label}" >"$dir/test.sh"
    printf 'include("%s/tests/labels.cmake")\ntide_labels(found "%s/test.sh" checks)\nmessage("${found}")\n' "$TIDE_SOURCE_DIR" "$dir" >"$dir/labels.cmake"
    cmake -P "$dir/labels.cmake" 2>&1
}
# CMake wraps a message at a place that depends on the length of the path in it.
said() { [[ $(tr -s ' \n' ' ' <"$dir/said") == *"$1"* ]] || { cat "$dir/said"; exit 1; }; }
for text in '# @:\n# all\n' '# Minutes. @: al\n' '# @: allow\n' '# @s: all\n' '# @:all\n' '# @ : threads\n' '# @: all, @: thread\n'; do
    ! labels_of "$text" >"$dir/said" || { echo "FAIL: labels.cmake lets pass: $text"; exit 1; }
    said 'malformed label'
done
needs='# needs: failpoints\n'
! labels_of "# @: all\n$needs" >"$dir/said" || { echo "FAIL: labels.cmake lets pass a test that no build runs"; exit 1; }
said 'no build with them runs it'
labels_of "# @: all, @: sanitize\n$needs" >/dev/null || { echo "FAIL: labels.cmake refuses what builds with failpoints run"; exit 1; }
printf '# needs: failponts\n' >"$dir/test.sh"
printf 'include("%s/tests/labels.cmake")\ntide_needs(here "%s/test.sh")\n' "$TIDE_SOURCE_DIR" "$dir" >"$dir/labels.cmake"
! cmake -P "$dir/labels.cmake" >"$dir/said" 2>&1 || { echo 'FAIL: labels.cmake lets pass a need that is none'; exit 1; }
said 'no such need'
for text in '# Minutes; @: all (why)\n#  @: threads, @: sanitize\n' '/* @: sanitize */\nlabel = "x";\n# @: threads; @: all\n# @: all'; do
    [ "$(labels_of "$text" | tr ';' '\n' | sort | tr '\n' ' ')" = 'all checks sanitize threads ' ] || { echo "FAIL: labels.cmake reads $text as $(labels_of "$text")"; exit 1; }
done
echo ok

# A compile command of one file is a build. checks.tidy and .analyzer run in `tools/test all` only.
if [ -n "${TIDE_LONG:-}" ] && command -v clang-tidy >/dev/null; then
    fresh
    mkdir -p "$dir/t/build/x"
    cp "$TIDE_SOURCE_DIR/.clang-tidy" "$dir/t/"
    printf '#include <stdlib.h>\nint f(int a);\nint f(int a)\n{\n    char *p = malloc(4);\n    if (a)\n        return 0;\n    free(p);\n    return 1;\n}\n' >"$dir/t/indexer/decode/leak.c"
    printf '[{"directory":"%s","command":"cc -o x.o -c %s","file":"%s"}]' "$dir/t" "$dir/t/indexer/decode/leak.c" "$dir/t/indexer/decode/leak.c" >"$dir/t/build/x/compile_commands.json"
    for tool in tidy gcc; do
        ! "$check/analyze" $tool "$dir/t" "$dir/t/build/x" >"$dir/said" || { echo "FAIL: analyze $tool does not see a leak"; exit 1; }
        grep -q 'leak' "$dir/said" || { cat "$dir/said"; exit 1; }
    done
    sed -i 's/return 0/abort()/' "$dir/t/indexer/decode/leak.c"
    for again in '' again; do
        for tool in tidy gcc; do "$check/analyze" $tool "$dir/t" "$dir/t/build/x" || { echo "FAIL: analyze $tool refuses what is right $again"; exit 1; }; done
    done
    # A result that is kept in the build folder holds only while the file and its headers are unchanged.
    printf '#define abort() return 0\n' >"$dir/t/indexer/decode/leak.h"
    sed -i 's/^int f(int a)$/#include "leak.h"\n&/' "$dir/t/indexer/decode/leak.c"
    for tool in tidy gcc; do ! "$check/analyze" $tool "$dir/t" "$dir/t/build/x" >"$dir/said" || { echo "FAIL: analyze $tool does not look at what changed"; exit 1; }; done
    : >"$dir/t/indexer/decode/leak.h"
    for tool in tidy gcc; do "$check/analyze" $tool "$dir/t" "$dir/t/build/x" || { echo "FAIL: analyze $tool keeps a finding"; exit 1; }; done
    printf '#define abort() return 0\n' >"$dir/t/indexer/decode/leak.h"
    for tool in tidy gcc; do ! "$check/analyze" $tool "$dir/t" "$dir/t/build/x" >"$dir/said" || { echo "FAIL: analyze $tool keeps a judgement of another header"; exit 1; }; done
fi

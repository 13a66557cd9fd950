#!/usr/bin/env bash
# Tests the packages against a server that limits, fails, falls silent and cuts streams. Also signatures, types, the
# size of a bundle with one function, and mirrors of nodes that disagree.
. "$(dirname "$0")/_clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/_fake.mjs "$here"/_typescript.mjs "$here"/_hooks.mjs "$here"/_agree.mjs "$here"/_mirror.mjs "$packages/"
cd "$packages"
node --test --test-reporter=spec _typescript.mjs >"$work/node.log" 2>&1 || { tail -n 60 "$work/node.log"; fail "the TypeScript package"; }
grep -E '^(#|ℹ) (pass|fail|skipped)' "$work/node.log"

modules=$built/typescript/node_modules
ln -s "$modules"/{react,react-test-renderer,scheduler,loose-envify,js-tokens,react-is,react-shallow-renderer,object-assign} node_modules/ 2>/dev/null || true
node _hooks.mjs || fail "the hooks"

# Tree-shaking: a page that uses one function does not load the others.
printf '%s\n' "import { createClient, kycStatus } from '@tidemark/client';" \
    "console.log(await kycStatus(createClient({ baseUrl: 'http://127.0.0.1' }), { address: 'G' }));" >one.mjs
size=$("$modules/.bin/esbuild" one.mjs --bundle --minify --format=esm --log-level=error | tee "$work/one.js" | wc -c)
! grep -e proposalVotes -e '/api/dao' "$work/one.js" || fail "a bundle of one function has another"
[ "$size" -lt 8192 ] || fail "a bundle of one function has $size bytes"
echo "a bundle of one function: $size bytes"

# The compilers accept the samples that /docs shows for each route.
"$modules/.bin/esbuild" "$TIDE_SOURCE_DIR/api/web/app/src/docs/samples.ts" --format=esm --log-level=error >samples.mjs
mkdir samples
node --input-type=module -e '
    import { readFileSync, writeFileSync } from "node:fs";
    import { sampleOf } from "./samples.mjs";
    const spec = JSON.parse(readFileSync(process.argv[1]));
    let count = 0;
    for (const [path, methods] of Object.entries(spec.paths)) for (const [method, { operationId }] of Object.entries(methods)) {
        const of = (language) => sampleOf(spec, path, method, language, "http://127.0.0.1:1");
        if (!of("TypeScript").includes("@tidemark")) continue;
        writeFileSync(`samples/${operationId}.mts`, of("TypeScript"));
        writeFileSync(`samples/${operationId}_sample.py`, of("Python"));
        count++;
    }
    if (count < 60) throw new Error(`only ${count} samples`);
    console.log(`samples of ${count} routes`);' "$TIDE_BUILD/api/openapi.json" || fail "the samples"
"$modules/.bin/tsc" --noEmit --strict --target es2022 --module nodenext --lib es2023,dom,dom.iterable,dom.asynciterable samples/*.mts || fail "a sample does not fit the TypeScript package"
"$built/env/bin/mypy" --cache-dir "$built/mypy" --python-executable "$python" samples/*_sample.py >"$work/mypy.log" || { tail -n 20 "$work/mypy.log"; fail "a sample does not fit the Python package"; }

"$built/env/bin/mypy" --config-file "$built/python/pyproject.toml" --cache-dir "$built/mypy" "$built/python/src" || fail "the types of the Python package"
"$python" "$here/_python.py" "$packages" || fail "the Python package"
"$python" "$here/_agree.py" "$packages" || fail "the packages do not agree"

# Both packages and the header for C as mirrors of nodes that disagree. TIDE_LONG=1 tries random seeds for ten
# minutes.
cc -std=c99 -O2 -Wall -Wextra -Werror -shared -fPIC -I "$TIDE_SOURCE_DIR/api/clients/c" -o "$work/reader.so" "$here/_mirror_reader.c" || fail "the header does not compile"
mirrors() { "$python" "$here/_mirror.py" "$packages" "$work/reader.so" "$@" || fail "the mirrors"; }
mirrors 1 25
end=$((SECONDS + 600))
while [ -n "${TIDE_LONG:-}" ] && [ "$SECONDS" -lt "$end" ]; do
    mirrors $((RANDOM * 32768 + RANDOM)) 50
    "$python" "$here/_agree.py" "$packages" "$RANDOM" || fail "the packages do not agree"
done

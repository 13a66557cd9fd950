#!/usr/bin/env bash
# Tests the packages against a server that limits, fails, falls silent and cuts streams. Also signatures, types, the
# size of a bundle with one function, and mirrors of nodes that disagree.
. "$(dirname "$0")/_clients.sh"
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/_fake.mjs "$here"/_typescript.mjs "$here"/_hooks.mjs "$here"/_agree.mjs "$here"/_mirror.mjs "$here"/_strict.mts "$here"/_common.cts "$packages/"
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

# A bundle for an edge runtime names no module of Node.js and imports nothing by itself. It runs without either.
printf '%s\n' "import { verifyWebhook, verifyReceipt } from '@tidemark/client';" \
    "console.log(await verifyWebhook('{}', {}, 'whsec_x').catch((error) => error.code), typeof verifyReceipt);" >edge.mjs
"$modules/.bin/esbuild" edge.mjs --bundle --format=esm --conditions=workerd,worker --log-level=error --outfile="$work/edge.mjs" || fail "a bundle for an edge runtime"
! grep -nE 'import *\(|node:|require\(' "$work/edge.mjs" || fail "a bundle for an edge runtime imports a module"
[ "$(node "$work/edge.mjs")" = "missing_header function" ] || fail "a bundle for an edge runtime does not run"

# CommonJS, as Node.js 18 loads it: newer versions would load the ES modules.
plain=(node)
! node --no-experimental-require-module -e 0 2>/dev/null || plain+=(--no-experimental-require-module)
"${plain[@]}" -e '
    const { createClient, TidemarkError, verifyWebhook } = require("@tidemark/client");
    const { useMarket } = require("@tidemark/client/react");
    require("@tidemark/client/kyc");
    if (typeof useMarket !== "function" || !(new TidemarkError("a", "b") instanceof Error) || !createClient({ baseUrl: "http://x" })) throw new Error("incomplete");
    verifyWebhook("{}", { "webhook-id": "a", "webhook-timestamp": "1", "webhook-signature": "v1,x" }, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", { now: 1000 })
        .catch((error) => { if (error.code !== "bad_signature") throw error; });' || fail "the package as CommonJS"

# Every list route fits `items` with --strict, without parameters too where none is required.
node --input-type=module -e '
    import { readFileSync, writeFileSync } from "node:fs";
    const spec = JSON.parse(readFileSync(process.argv[1]));
    const follow = (one) => (one.$ref ? one.$ref.slice(2).split("/").reduce((at, part) => at[part.replaceAll("~1", "/")], spec) : one);
    const lists = Object.values(spec.paths).flatMap(({ get }) => (get && get.operationId ? [get] : [])).map((get) => ({ get, all: (get.parameters ?? []).map(follow) }))
        .filter(({ all }) => all.some((one) => one.name === "cursor"));
    const lines = lists.map(({ get, all }) => {
        const name = get.operationId.replace(/_(\w)/g, (_, one) => one.toUpperCase());
        const required = all.filter((one) => one.required && one.in !== "header").map((one) => `${one.name}: ${one.schema.type === "integer" ? 1 : JSON.stringify(one.schema.enum?.[0] ?? "x")}`);
        const call = (more) => `for await (const one of t.items(t.${name}, api, { ${[...required, more].join(", ")} })) void one;`;
        return call("limit: 2") .replace("limit: 2", all.some((one) => one.name === "limit") ? "limit: 2" : "cursor: \"x\"") + (required.length ? "" : ` for await (const one of t.items(t.${name}, api)) void one;`);
    });
    if (lines.length < 35) throw new Error(`only ${lines.length} list routes`);
    writeFileSync("lists.mts", ["import * as t from \"@tidemark/client\";", "const api = t.createClient({ baseUrl: \"http://x\" });", ...lines].join("\n"));
    console.log(`${lines.length} list routes`);' "$TIDE_BUILD/api/openapi.json" || fail "the list routes"
strict=("$modules/.bin/tsc" --noEmit --strict --target es2022 --module nodenext --lib es2023,dom,dom.iterable,dom.asynciterable)
cp alert.mjs alert.mts
"${strict[@]}" --typeRoots "$modules/@types" --types node alert.mts || fail "alert.mjs as TypeScript"

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
"${strict[@]}" lists.mts _strict.mts _common.cts samples/*.mts || fail "the types of the TypeScript package, or a sample that does not fit it"
"$built/env/bin/mypy" --strict --cache-dir "$built/mypy" --python-executable "$python" samples/*_sample.py "$here/_strict.py" >"$work/mypy.log" ||
    { tail -n 20 "$work/mypy.log"; fail "what the types of the Python package accept, or a sample that does not fit it"; }
"$built/env/bin/mypy" --config-file "$built/python/pyproject.toml" --cache-dir "$built/mypy" "$built/python/src" || fail "the types of the Python package"
"$python" "$here/_python.py" "$packages" || fail "the Python package"
"$python" "$here/_agree.py" "$packages" || fail "the packages do not agree"

# Both packages and the header for C as mirrors of nodes that disagree. TIDE_LONG=1 tries random seeds for ten
# minutes.
cc -std=c99 -O2 -Wall -Wextra -Werror -shared -fPIC -I "$TIDE_SOURCE_DIR/api/clients/c" -o "$work/reader.so" "$here/_mirror_reader.c" || fail "the header does not compile"
mirrors() { "$python" "$here/_mirror.py" "$packages" "$work/reader.so" "$@" || fail "the mirrors"; }
mirrors 1 8
end=$((SECONDS + 600))
while [ -n "${TIDE_LONG:-}" ] && [ "$SECONDS" -lt "$end" ]; do
    mirrors $((RANDOM * 32768 + RANDOM)) 50
    "$python" "$here/_agree.py" "$packages" "$RANDOM" || fail "the packages do not agree"
done

#!/usr/bin/env bash
# The API under schemathesis, which makes requests of the OpenAPI document: no server error, no answer that breaks its
# schema, and no request that the document allows is refused. TIDE_LONG=1 makes more requests.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../_pg.sh"
. "$here/../_api.sh"
[ -x "$TIDE_BIN/tidemark-sim" ] && [ -x "$TIDE_BIN/tidemark-api" ] || { echo "programs not built"; exit 1; }
python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "no python3-venv"; exit 1; }
env=$TIDE_BUILD/schemathesis # beside the build, never in the sources
version=4.32.5
mkdir -p "$env"
(
    flock 9
    [ -x "$env/bin/pip" ] || python3 -m venv "$env" || exit 1
    [ "$(cat "$env/.installed" 2>/dev/null)" = "$version" ] && exit 0
    "$env/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version" >"$env/pip.log" 2>&1 || exit 1
    echo "$version" >"$env/.installed"
) 9>"$env/.lock" || { tail -n 3 "$env/pip.log"; echo "PyPI cannot be reached"; exit 1; }

pg_start
api_index 128
api_start --api-rate-lookup 0 --api-rate-query 0
api_follow
# A 400 of a request that the document allows is a failure; so is a 5xx other than the 503 that the document names.
cat >"$PG_DIR/schemathesis.toml" <<'END'
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "304", "401", "403", "404", "406", "409", "410", "422", "429", "503"]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]
END
cp "$here/_schemathesis.py" "$PG_DIR/hooks.py"
cd "$PG_DIR"
SCHEMATHESIS_HOOKS=hooks PYTHONPATH=$PG_DIR "$env/bin/schemathesis" --config-file schemathesis.toml run "$TIDE_BUILD/api/openapi.json" --url "$API_URL" \
    --include-path-regex '^/(api/|openapi|healthz|readyz|\.well-known)' --exclude-path /api/stream --mode positive --phases examples,fuzzing --seed "${TIDE_SEED:-1}" \
    --max-examples "$([ -n "${TIDE_LONG:-}" ] && echo 100 || echo 12)" --generation-database none --continue-on-failure --suppress-health-check all --workers 1 --warnings off --no-color \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,positive_data_acceptance \
    >"$PG_DIR/schemathesis.log" 2>&1 || { tail -n 120 "$PG_DIR/schemathesis.log"; fail "schemathesis"; }
tail -n 12 "$PG_DIR/schemathesis.log"
api_stop || fail "tidemark-api ended with $?"

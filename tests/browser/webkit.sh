#!/usr/bin/env bash
# The pages in Debian's WebKitGTK, which has Safari's engine, and the stream of its tabs as in dashboard_tabs.sh.
# label: all
for program in WebKitWebDriver Xvfb xdotool; do
    command -v $program >/dev/null || { echo "no $program: tools/install-deps engines"; exit 77; }
done
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_page.sh"
. "$here/_engine.sh"
engine_run webkit pages kyc console tabs hidden fallbacks cache dead

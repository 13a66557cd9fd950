#!/usr/bin/env bash
# The pages in Debian's Firefox, and the stream of its tabs as in dashboard_tabs.sh.
# label: all
command -v firefox-esr >/dev/null || { echo "no firefox-esr: tools/install-deps engines"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_page.sh"
. "$here/_engine.sh"
engine_run firefox pages kyc console tabs hidden fallbacks cache dead

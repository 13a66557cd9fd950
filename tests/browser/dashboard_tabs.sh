#!/usr/bin/env bash
# Eight tabs of the dashboard in one browser, while ledgers close: each shows them, one stream serves all, and it
# outlives the tab that opened it. Hidden tabs and pages that were left have none, and catch up. Without a worker, or with one that ends, a tab is live all the same.
# label: all
here=$(cd "$(dirname "$0")" && pwd)
. "$here/_page.sh"
. "$here/_engine.sh"
engine_run chromium tabs hidden fallbacks cache dead

#!/usr/bin/env bash
# gcc's -fanalyzer finds nothing: minutes of CPU time. label: all
exec "$TIDE_SOURCE_DIR/tools/check/analyze" gcc "$TIDE_SOURCE_DIR" "$TIDE_BUILD"

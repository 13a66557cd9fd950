#!/usr/bin/env bash
# clang-tidy finds nothing: minutes of CPU time. label: all
exec "$TIDE_SOURCE_DIR/tools/check/analyze" tidy "$TIDE_SOURCE_DIR" "$TIDE_BUILD"

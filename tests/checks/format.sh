#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/format" "$TIDE_SOURCE_DIR"

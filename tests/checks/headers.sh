#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/headers" "$TIDE_SOURCE_DIR"

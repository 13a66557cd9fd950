#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/waits" "$TIDE_SOURCE_DIR"

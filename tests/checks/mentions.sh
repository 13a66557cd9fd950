#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/mentions" "$TIDE_SOURCE_DIR"

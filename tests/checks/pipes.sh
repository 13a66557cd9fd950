#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/pipes" "$TIDE_SOURCE_DIR"

#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/manuals" "$TIDE_SOURCE_DIR"

#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/sizes" "$TIDE_SOURCE_DIR"

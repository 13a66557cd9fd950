#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/words" "$TIDE_SOURCE_DIR"

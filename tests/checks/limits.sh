#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/limits" "$TIDE_SOURCE_DIR"

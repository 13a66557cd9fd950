#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/names" "$TIDE_SOURCE_DIR"

#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/exports" "$TIDE_SOURCE_DIR"

#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/folders" "$TIDE_SOURCE_DIR"

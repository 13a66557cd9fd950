#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/links" "$TIDE_SOURCE_DIR"

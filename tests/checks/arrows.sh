#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/arrows" "$TIDE_SOURCE_DIR"

#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/comments" "$TIDE_SOURCE_DIR"

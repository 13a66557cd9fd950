#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/calls" "$TIDE_SOURCE_DIR"

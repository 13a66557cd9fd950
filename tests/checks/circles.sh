#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/circles" "$TIDE_SOURCE_DIR"

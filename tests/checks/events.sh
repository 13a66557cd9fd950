#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/events" "$TIDE_SOURCE_DIR"

#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/dice" "$TIDE_SOURCE_DIR"

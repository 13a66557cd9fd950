#!/usr/bin/env bash
exec "$TIDE_SOURCE_DIR/tools/check/rejections" "$TIDE_SOURCE_DIR"

#!/usr/bin/env bash
# Runs both README commands in an empty root of Debian 13, an hour on two cores.
# label: roots
# needs: the release build
exec "$(dirname "$0")/_in_root.sh" trixie

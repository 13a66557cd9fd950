#!/usr/bin/env bash
# Runs both README commands in an empty root of Debian 14, the coming one (testing), an hour on two cores.
# label: roots
# needs: the release build
exec "$(dirname "$0")/_in_root.sh" forky

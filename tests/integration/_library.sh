# Builds libmicrohttpd 1.0.1, to run programs with it instead of the system's version. Sourced, not run.
library_missing="no shared/third-party/build-libmicrohttpd (set TIDE_SHARED)"

library_prefix() {
    local shared prefix=${TIDE_BUILD:-$TIDE_SOURCE_DIR/build}/libmicrohttpd-1.0.1
    for shared in "${TIDE_SHARED:-}" "$TIDE_SOURCE_DIR/../shared" "$TIDE_SOURCE_DIR/../../shared"; do
        [ -x "$shared/third-party/build-libmicrohttpd" ] || continue
        mkdir -p "$prefix"
        flock "$prefix" "$shared/third-party/build-libmicrohttpd" "$prefix" >&2 || return
        echo "$prefix"
        return
    done
    return 1
}

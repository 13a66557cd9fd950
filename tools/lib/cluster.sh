# A private PostgreSQL cluster in a folder: sourced, not run. Used by the demo, with-stack and the
# tests. It does not touch the machine's own PostgreSQL.
#
#   cluster_bin                  prints the folder of initdb and pg_ctl: PG_BINDIR, else the newest
#                                installed release; fails where there is none
#   cluster_init DIR             makes DIR (owned by the server's user) and DIR/data
#   cluster_up DIR [-c x=y]…     starts it: a socket in DIR, and 127.0.0.1:PORT where DIR/port says so
#   cluster_down DIR [MODE]      stops it (fast, immediate); no error when it does not run
#   cluster_remove DIR           stops it at once and removes DIR
#   cluster_as CMD…              runs CMD as the server's user
#
# The socket needs no password (the folder's mode protects it); 127.0.0.1 asks for DIR/password.
# PostgreSQL refuses to be root: root hands the server to postgres, or to nobody.

cluster_bin() {
    local dir newest
    newest=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    for dir in "${PG_BINDIR:-}" "$newest" "$(pg_config --bindir 2>/dev/null || true)"; do
        [ -x "$dir/initdb" ] && { echo "$dir"; return 0; }
    done
    echo "PostgreSQL's initdb is not installed; tools/install-deps installs it" >&2
    return 1
}

cluster_user() { id -u postgres >/dev/null 2>&1 && echo postgres || echo nobody; }

cluster_as() {
    if [ "$(id -u)" = 0 ]; then
        local user
        user=$(cluster_user)
        (cd / && exec setpriv --reuid="$user" --regid="$(id -gn "$user")" --init-groups \
            env -u XDG_RUNTIME_DIR HOME=/nonexistent "$@")
    else
        "$@"
    fi
}

# A free port of 127.0.0.1.
cluster_free_port() {
    local port
    while :; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return 0; }
    done
}

cluster_init() {
    local dir=$1 bin password
    bin=$(cluster_bin) || return 1
    mkdir -p "$dir"
    chmod 755 "$dir"
    [ "$(id -u)" != 0 ] || chown "$(cluster_user)" "$dir"
    password=$(head -c 18 /dev/urandom | base64 | tr '+/' '-_')
    (umask 077 && echo "$password" >"$dir/password")
    [ "$(id -u)" != 0 ] || chown "$(cluster_user)" "$dir/password"
    cluster_as "$bin/initdb" -D "$dir/data" -U postgres --auth-local=trust \
        --auth-host=scram-sha-256 --pwfile="$dir/password" \
        -E UTF8 --locale=C -k --no-sync >/dev/null
}

# A transaction may lock many partitions, more than PostgreSQL's default allows.
cluster_up() {
    local dir=$1 bin listen="-c listen_addresses=''"
    shift
    bin=$(cluster_bin) || return 1
    [ ! -f "$dir/port" ] || listen="-c listen_addresses=127.0.0.1 -c port=$(cat "$dir/port")"
    cluster_as "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w -t 300 start -o \
        "$listen -c unix_socket_directories='$dir' -c unix_socket_permissions=0700 \
         -c max_wal_size=1GB -c max_locks_per_transaction=256 $*" >/dev/null ||
        { tail -n 5 "$dir/log" >&2; return 1; }
}

cluster_down() {
    local dir=$1 bin
    bin=$(cluster_bin) || return 1
    [ ! -f "$dir/data/postmaster.pid" ] ||
        cluster_as "$bin/pg_ctl" -D "$dir/data" -m "${2:-fast}" -w stop >/dev/null 2>&1 || true
}

cluster_remove() {
    cluster_down "$1" immediate
    rm -rf -- "$1"
}

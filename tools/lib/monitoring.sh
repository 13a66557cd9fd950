# Prometheus and Grafana beside a stack: sourced, not run, after lib/stack.sh. Prometheus is that of PATH, or the one that
# tools/install-deps unpacked.
#
#   monitoring_prometheus DIR API_URL KEY   scrapes that API; sets monitoring_prometheus_pid and _url
#   monitoring_grafana DIR                  with the boards, over that Prometheus and stack_database's
#                                           database; gives the analyst a password; sets
#                                           monitoring_grafana_pid and _url; fails without Grafana

PATH=$stack_root/.state/prometheus/usr/bin:$PATH

monitoring_prometheus() {
    local dir=$1/prometheus port
    mkdir -p "$dir"
    (umask 077 && printf %s "$3" >"$dir/metrics.key")
    cp "$stack_root/tools/monitoring/alerts.yml" "$dir/"
    sed -e "s|127.0.0.1:8080|${2#http://}|" -e 's/scrape_interval: 5s/scrape_interval: 1s/' "$stack_root/tools/monitoring/prometheus.yml" >"$dir/prometheus.yml"
    port=$(cluster_free_port)
    set -m
    prometheus --config.file="$dir/prometheus.yml" --storage.tsdb.path="$dir/data" --web.listen-address="127.0.0.1:$port" \
        --log.level=warn >"$dir/log" 2>&1 &
    monitoring_prometheus_pid=$!
    set +m
    monitoring_prometheus_url=http://127.0.0.1:$port
}

monitoring_grafana() {
    local dir=$1/grafana program port home password
    program=$(command -v grafana || command -v grafana-server) || return 1
    home=${GRAFANA_HOME:-/usr/share/grafana}
    mkdir -p "$dir"
    port=$(cluster_free_port)
    password=$(stack_secret)
    "$(cluster_bin)/psql" -Xqc "ALTER ROLE tidemark_analyst PASSWORD '$password'" "$stack_socket"
    set -m
    TIDEMARK_PROMETHEUS_URL=$monitoring_prometheus_url TIDEMARK_PG_HOST=127.0.0.1:$(cat "$1/db/port") TIDEMARK_PG_SSLMODE=disable \
        TIDEMARK_PG_PASSWORD=$password TIDEMARK_BOARDS=$stack_root/tools/monitoring/boards \
        GF_PATHS_PROVISIONING=$stack_root/tools/monitoring/grafana GF_PATHS_DATA=$dir/data GF_PATHS_LOGS=$dir GF_SERVER_HTTP_ADDR=127.0.0.1 \
        GF_SERVER_HTTP_PORT=$port GF_AUTH_ANONYMOUS_ENABLED=true GF_ANALYTICS_REPORTING_ENABLED=false GF_ANALYTICS_CHECK_FOR_UPDATES=false \
        "$program" $([ "${program##*/}" = grafana ] && echo server) --homepath "$home" >"$dir/log" 2>&1 &
    monitoring_grafana_pid=$!
    set +m
    monitoring_grafana_url=http://127.0.0.1:$port
}

# systemd's side of daemons (_notify.py): sourced after _faults.sh. WATCHDOG_USEC is exported, the log of NAME is $PG_DIR/NAME.log.
#
#   notify_up NAME      a socket for NOTIFY_SOCKET: $PG_DIR/NAME.socket; its messages come into $PG_DIR/NAME.heard
notify_up() {
    "$PYTHONPATH/_notify.py" "$PG_DIR/$1.socket" "$PG_DIR/$1.heard" "$WATCHDOG_USEC" 2>"$PG_DIR/$1.notify" &
    wait_for "$PG_DIR/$1.heard" LISTENING
}
count() { grep -c -e "$2" "$PG_DIR/$1.heard" || true; } # NAME MESSAGE
pings() { # NAME N: so many more than now, which takes longer than the watchdog's period when N is 4
    local wanted=$(($(count "$1" WATCHDOG=1) + $2)) end=$((SECONDS + 60))
    until [ "$(count "$1" WATCHDOG=1)" -ge $wanted ]; do
        [ $SECONDS -lt $end ] || fail "$1: $(count "$1" WATCHDOG=1) of $wanted pings: $(tail -3 "$PG_DIR/$1.log")"
        sleep 0.05
    done
}
fires() { # NAME SENTENCE: the watchdog would end it
    local before end=$((SECONDS + 60))
    before=$(count "$1" FIRED)
    until [ "$(count "$1" FIRED)" -gt "$before" ]; do
        [ $SECONDS -lt $end ] || fail "$2: the watchdog was fed $(count "$1" WATCHDOG=1) times and never fired"
        sleep 0.05
    done
}

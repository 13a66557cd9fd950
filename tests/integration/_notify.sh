# systemd's side of daemons (_notify.py): sourced after _faults.sh. WATCHDOG_USEC is exported, the log of NAME is $PG_DIR/NAME.log.
#
#   notify_up NAME      a socket for NOTIFY_SOCKET: $PG_DIR/NAME.socket; its messages come into $PG_DIR/NAME.heard
notify_up() {
    "$PYTHONPATH/_notify.py" "$PG_DIR/$1.socket" "$PG_DIR/$1.heard" "$WATCHDOG_USEC" 2>"$PG_DIR/$1.notify" &
    wait_for "$PG_DIR/$1.heard" LISTENING
}
count() { grep -c -e "$2" "$PG_DIR/$1.heard" || true; } # NAME MESSAGE
counted() { [ "$(count "$1" "$2")" -ge "$3" ]; } # NAME MESSAGE N
pings() { # NAME N: so many more than now, which takes longer than the watchdog's period when N is 4
    AWAIT_LOG=$PG_DIR/$1.log await "$2 pings of $1" counted "$1" WATCHDOG=1 $(($(count "$1" WATCHDOG=1) + $2))
}
fires() { # NAME SENTENCE: the watchdog would end it
    local before
    before=$(count "$1" FIRED)
    await "$2: the watchdog that fires" counted "$1" FIRED $((before + 1))
}

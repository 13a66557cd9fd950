# Waiting with an end: sourced, not run. Every wait of a script goes through here (tools/check/waits).
#
#   within SECONDS CMD…   asks again and again; fails when the command did not succeed in that time
#   await WHAT CMD…       the same for TIDE_WAIT_S (120) seconds, then ends the script with what it waited for.
#                         AWAIT_PID=PID: fails at once when that process ends first. AWAIT_LOG=FILE: its last lines are shown.
#   gone PID              a process has ended
#
# What is no single command is given as eval 'TEXT'. The caller may define fail MESSAGE, which ends it.
within() {
    local within_end=$((SECONDS + $1)) within_pauses=(0.02 0.1 0.1 0.1 0.1 0.1 0.25) within_turn=0
    shift
    until "$@"; do
        [ $SECONDS -lt $within_end ] || return 1
        sleep "${within_pauses[within_turn]}"
        [ $within_turn = 6 ] || within_turn=$((within_turn + 1)) # a start of psql costs 20 ms of CPU time: asking often costs more than waiting
    done
}

gone() { ! kill -0 "$1" 2>/dev/null; }

await() {
    local await_what=$1 await_state=never
    shift
    if ! within "${TIDE_WAIT_S:-120}" await_ends "$@" || [ $await_state = ended ]; then
        await_what="waited for $await_what; $([ $await_state = never ] && echo "not within ${TIDE_WAIT_S:-120} s" || echo "its process ended")"
        [ -z "${AWAIT_LOG:-}" ] || await_what+=": $(tail -n 3 "$AWAIT_LOG")"
        declare -F fail >/dev/null && fail "$await_what" || { echo "$await_what" >&2; exit 1; }
    fi
}
await_ends() { # CMD…: it succeeds, or cannot any more
    ! "$@" || { await_state=so; return 0; }
    [ -n "${AWAIT_PID:-}" ] && gone "$AWAIT_PID" || return 1
    "$@" && await_state=so || await_state=ended # the process may have ended after it did its part
}

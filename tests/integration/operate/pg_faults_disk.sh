#!/usr/bin/env bash
# Fills PostgreSQL's disks: the writer waits, reports it, and continues by itself when there is space. Needs root to
# mount a small tmpfs.
# label: all
. "$(dirname "$0")/../_pg.sh"
. "$(dirname "$0")/../_writer.sh"
pg_start
. "$(dirname "$0")/../_faults.sh"
run="1 3000 batch=100 partition=4001"
slow="1 4000 batch=3 partition=500 tip"
unmount() { umount -l "$PG_DIR"/disk* 2>/dev/null || true; }

data_disk() { # P6: the server stays up, other tables can be written
    small_disk "$PG_DIR/disk6" 3
    sql "CREATE TABLESPACE small LOCATION '$PG_DIR/disk6'"
    fresh
    sql "ALTER DATABASE tidemark SET default_tablespace = small"
    sql "CREATE TABLE public.ballast AS SELECT md5(i::text) || md5(i::text) FROM generate_series(1, 20000) i"
    start $run heartbeat
    wait_for "$words" 'state=53100'
    local before after
    before=$(grep -c db.retry "$words")
    sleep 1.5
    after=$(grep -c db.retry "$words")
    kill -0 $writer || fail "gave up"
    until_sql "state = 'retrying' AND error ~ '53100' AND retries > 0 FROM chain.heartbeat" 20
    [ $((after - before)) -le 8 ] || fail "a storm of attempts"
    sql "DROP TABLE public.ballast; CHECKPOINT"
    mount -o remount,size=64m "$PG_DIR/disk6"
    ends_well
}

wal_disk() { # P7: the server panics and may not even start; we survive it
    small_disk "$PG_DIR/disk7" 112 # five spare files of WAL, and room
    pg_stop fast
    as_pg sh -c "mv '$PG_DIR'/data/pg_wal/* '$PG_DIR/disk7' && rmdir '$PG_DIR/data/pg_wal' && ln -s '$PG_DIR/disk7' '$PG_DIR/data/pg_wal'"
    pg_again
    fresh
    sql "DROP TABLE IF EXISTS public.ballast; CREATE TABLE public.ballast (t text)"
    local ballast="INSERT INTO public.ballast SELECT repeat(md5(i::text), 30) FROM generate_series(1, 10000) i"
    sql "$ballast"
    start $slow
    until_sql "ledger > 50 FROM chain.cursor" 20
    for _ in $(seq 30); do sql "$ballast" 2>/dev/null || break; done
    grep -q 'PANIC.*No space left on device' "$PG_DIR/log" || fail "no panic"
    wait_for "$words" db.retry
    sleep 1
    kill -0 $writer || fail "gave up: $(tail -2 "$words")"
    mount -o remount,size=300m "$PG_DIR/disk7"
    sql "SELECT 1" >/dev/null 2>&1 || pg_stop immediate
    pg_again 2>/dev/null || sql "SELECT 1" >/dev/null
    ends_well
}

PG_AT_EXIT=unmount
wants $run
fault "P6 data disk full: waits, goes on by itself" data_disk
sql "ALTER DATABASE tidemark RESET default_tablespace"
wants $slow
fault "P7 WAL disk full, the server panics: survives, goes on" wal_disk
faults_end

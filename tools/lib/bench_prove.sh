# The section `prove` of tools/bench: sourced by it, uses its helpers. Signatures of validators: many checkpoints of a filled
# database, and what proving costs while following.

# Chain NAME of CHECKPOINTS checkpoints, with the signed archive $dir/NAME.archive; its deployment file without validators is $dir/NAME.plain.json.
signed_chain() { # NAME CHECKPOINTS TXS
    [ -d "$dir/$1" ] && return 0
    "$TIDE_BIN/tidemark-sim" write --lake "$dir/$1" --archive "$dir/$1.archive" --deployment "$dir/$1.json" --validators 4 --ledgers $(($2 * 64)) \
        --txs "$3" --seed 7 --quiet
    python3 - "$dir/$1.json" "$dir/$1.plain.json" <<'P'
import json, sys
made = json.load(open(sys.argv[1]))
del made["validators"]
json.dump(made, open(sys.argv[2], "w"))
P
}

# Seconds, CPU seconds and MiB of a program.
measured() { # LOG CMD…
    python3 - "$@" <<'P'
import resource, subprocess, sys, time
began = time.monotonic()
with open(sys.argv[1], "w") as log:
    code = subprocess.run(sys.argv[2:], stdout=log, stderr=log).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{time.monotonic() - began:.2f} {used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss // 1024}")
sys.exit(code)
P
}

# The checkpoints of a filled database: its deployment file names a contract of few rows, because verify --archive is about ledgers.
prove_filled() {
    local last out
    signed_chain long "$checkpoints" 1
    last=$(sed -n 's/.*"last_ledger": *\([0-9]*\).*/\1/p' "$dir/long.json")
    fresh replica ours
    part_of dao_governance long quiet
    index replica ours quiet >/dev/null
    # shellcheck disable=SC2207
    out=($(TIDEMARK_DATABASE_URL=$(conn replica ours) measured "$dir/verify.log" "$TIDE_BIN/tidemark-indexer" verify --archive "$dir/long.archive" \
        --deployment "$dir/quiet.json" --to "$last")) || { tail -n 5 "$dir/verify.log" >&2; return 1; }
    grep -q "$checkpoints of $checkpoints checkpoints" "$dir/verify.log" || { tail -n 5 "$dir/verify.log" >&2; return 1; }
    result "CPU of verify --archive, a checkpoint / 40 ms" "<=1" "$(ratio "$(ratio "${out[1]}" "$checkpoints")" 0.040)" 0 \
        "$checkpoints checkpoints, 4 validators: ${out[0]} s, CPU ${out[1]} s, ${out[2]} MiB (simulated chain)"
    rm -rf "${dir:?}/long" "${dir:?}/long.archive"
}

# CPU of the indexer and of its sessions in PostgreSQL for the ledgers of a chain, one every prove_pace ms, and how many checkpoints it proved; written
# to $dir/DATABASE.cpu. Without --stop-at-end: only then does it follow, and not load a table that is shown at the end.
follow_cpu() { # DATABASE DEPLOYMENT [option]…
    local database name=$1 deployment=$2
    shift 2
    database=$(conn replica "$name")
    TIDEMARK_DATABASE_URL=$database "$stack_root/tools/perf/prove.py" "$prove_pace" "$dir/tip.stream" "$(cluster_bin)/psql" "$database" "$TIDE_BIN/tidemark-indexer" run \
        --stream - --deployment "$deployment" --log-level "$log_level" "$@" >"$dir/$name.cpu" 2>"$dir/$name.log" || { tail -n 5 "$dir/$name.log" >&2; return 1; }
    sql "$database" "SELECT count(*) FROM chain.checkpoint" >>"$dir/$name.cpu"
}
# Both follow at the same time, half a pace apart: other work on the machine slows both.
follow_both() { # ROUND: the first to start changes from round to round
    local first second plain=(follow_cpu plain "$dir/proved.plain.json") ours=(follow_cpu ours "$dir/proved.json" --archive "$dir/proved.archive")
    fresh replica plain
    fresh replica ours
    if (($1 % 2)); then "${ours[@]}" & else "${plain[@]}" & fi
    first=$!
    sleep "$(awk -v ms="$prove_pace" 'BEGIN { print ms / 2000 }')"
    if (($1 % 2)); then "${plain[@]}" & else "${ours[@]}" & fi
    second=$!
    wait "$first" && wait "$second"
}
prove_following() {
    local i with without values=() seconds='' few=$(((checkpoints + 249) / 250))
    signed_chain proved "$few" 12
    "$TIDE_BIN/lake_stream" "$dir/proved" >"$dir/tip.stream" 2>"$dir/stream.log"
    for ((i = 0; i < rounds; i++)); do
        follow_both "$i" || return 1
        # shellcheck disable=SC2207
        without=($(cat "$dir/plain.cpu")) with=($(cat "$dir/ours.cpu"))
        [ "${without[2]} ${with[2]}" = "0 $few" ] || { echo "proven: ${without[2]} and ${with[2]}, not 0 and $few" >&2; return 1; }
        values+=("$(awk -v a="${with[0]}" -v b="${with[1]}" -v c="${without[0]}" -v d="${without[1]}" 'BEGIN { printf "%.4f", (a + b) / (c + d) }')")
        seconds+="${without[0]}+${without[1]}/${with[0]}+${with[1]} "
    done
    # shellcheck disable=SC2046
    set -- $(quartiles "${values[@]}")
    result "CPU of following with archive / without" "<=1.05" "$1" "$2" \
        "$((few * 64)) ledgers of 12 calls, one every $prove_pace ms, both at the same time, seconds of the indexer+PostgreSQL without/with: $seconds(simulated chain)"
    rm -f "$dir/tip.stream"
}
bench_prove() {
    [ -d "$dir/replica" ] || cluster replica replica
    prove_filled
    prove_following
}

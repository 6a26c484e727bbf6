#!/bin/sh
# The examples as a test: the same on any number of ranks, on threads and under mpirun, and what other tools work out.
set -u
passed=0
failed=0
skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
bytes=$HG_BUILD_DIR/examples/many_bytes ring=$HG_BUILD_DIR/examples/many_ring
is() { # is EXPECTED GOT WHAT
    if [ "$1" = "$2" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: $3: '$2', expected '$1'"
    fi
}
"$bytes" make "$work/file" 9
printf x >>"$work/file" # no part is as long as the others
expected=$(python3 -c "
d = open('$work/file', 'rb').read()
print(f'{len(d)} bytes, sum {sum(d)}, {d.count(0)} zeros, {d.count(255)} of 255')")
heat=$("$ring" 1)
for ranks in 1 2 3; do is "$expected" "$("$bytes" "$work/file" $ranks 2>&1)" "bytes, $ranks ranks"; done
for ranks in 2 4 8; do is "$heat" "$("$ring" $ranks 2>&1)" "ring, $ranks ranks"; done
is "cell 0 64.169, cell 2048 61.0668, hash bb953545e64f0bfa" "$heat" "ring"
is "bytes: cannot read $work" "$("$bytes" "$work" 1 2>&1)" "bytes of a folder"
cd "$work" || exit 1
cat >points.atlas <<'END'
.atlas 1
.program points
.param points buffer f32 out [100, 2]
.param centres buffer f32 out [3, 2]
.lanes 100
    points[global, 0] = f32(global * 7919 % 997) / 997.0
    points[global, 1] = f32(global * 104729 % 991) / 991.0
    if global < 3 {
        centres[global, 0] = points[global, 0]
        centres[global, 1] = points[global, 1]
    }
END
"$HG_BUILD_DIR/hologram" run points.atlas --out points=p.npy --out centres=c.npy
step() { "$HG_BUILD_DIR/hologram" run --ranks "$1" "$HG_SOURCE_DIR/examples/many/kmeans.atlas" --in points="$2":shard=0 --in centres="$3"; }
python3 - <<'END'
import struct
def save(name, rows):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, 2), }}".ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + b"".join(struct.pack("<2f", *r) for r in rows))
save("few.npy", [(i * 5 % 8 / 8, i * 3 % 8 / 8) for i in range(8)]) # two for each of four ranks
save("five.npy", [(i / 5, i * 2 % 5 / 5) for i in range(5)])
END
for points in p.npy few.npy; do
    for centres in c.npy five.npy; do
        one=$(step 1 $points $centres)
        for ranks in 2 3 4; do is "$one" "$(step $ranks $points $centres 2>&1)" "k-means of $points, $centres, $ranks ranks"; done
    done
done
# All of k-means: ten steps at once are one after another, and another number of ranks goes on where a run has ended.
hologram=$HG_BUILD_DIR/hologram
means() { # means RANKS STEPS …: hashes; behind that what starts it
    ranks=$1 steps=$2 at=$3
    shift 3
    "$@" "$hologram" run --ranks "$ranks" "$HG_SOURCE_DIR/examples/many/kmeans.atlas" --in points=p.npy:shard=0 --in centres=c.npy --steps "$steps" --checkpoint "$at" --hash --out centres=done.npy 2>&1 | grep centres
}
cp c.npy one.npy
for one in 1 2 3 4 5 6 7 8 9 10; do
    "$hologram" run "$HG_SOURCE_DIR/examples/many/kmeans.atlas" --in points=p.npy --in centres=one.npy --out centres=one.npy >/dev/null
done
all=$(means 1 10 k1)
is 0 "$(cmp one.npy done.npy; echo $?)" "k-means, ten steps"
for ranks in 2 3 4; do is "$all" "$(means $ranks 10 k$ranks)" "k-means, ten steps, $ranks ranks"; done
means 3 4 kept >/dev/null
is "$all" "$(means 2 10 kept)" "k-means, four steps on three ranks, the rest on two"
"$hologram" run "$HG_SOURCE_DIR/examples/many/encoder_data.atlas" --out layer.npz
encoder() { # encoder [launcher …] -- [--ranks N]
    before=
    while [ "$1" != -- ]; do before="$before $1" && shift; done
    shift
    # shellcheck disable=SC2086
    timeout 60 $before "$hologram" run "$@" "$HG_SOURCE_DIR/examples/many/encoder.graph" --in x=layer.npz --weights layer.npz --deterministic --hash 2>&1
}
layer=$(encoder --)
is "out f32[2, 8, 48] blake3 317c4db17072f995621bd1cc6dcb01693df175b22651974db94764ee94e1e7a4" "$layer" "encoder"
for ranks in 2 3 4; do is "$layer" "$(encoder -- --ranks $ranks)" "encoder, $ranks ranks"; done
# The launchers of MPI: Debian's, and those of tools/setup, whose libraries the processes must find.
for mpirun in mpirun.mpich mpirun.openmpi "$HG_SOURCE_DIR/build/mpich/bin/mpirun" "$HG_SOURCE_DIR/build/openmpi/bin/mpirun"; do
    if ! command -v "$mpirun" >/dev/null; then
        echo "skipped: there is no $mpirun"
        skipped=$((skipped + 1))
        continue
    fi
    more=
    case $mpirun in
    mpirun.openmpi) more="--oversubscribe --mca btl self,vader" ;;
    */openmpi/*) more="--map-by :OVERSUBSCRIBE" ;;
    esac
    case $mpirun in */*) LD_LIBRARY_PATH=${mpirun%/bin/mpirun}/lib ;; *) LD_LIBRARY_PATH= ;; esac
    export LD_LIBRARY_PATH
    # shellcheck disable=SC2086
    is "$expected" "$(timeout 60 "$mpirun" $more -n 2 "$bytes" "$work/file" 2>&1)" "bytes under $mpirun"
    # shellcheck disable=SC2086
    is "$heat" "$(timeout 60 "$mpirun" $more -n 2 "$ring" 2>&1)" "ring under $mpirun"
    # shellcheck disable=SC2086
    timeout 60 "$mpirun" $more -n 3 "$ring" 2>&1 | grep -q "3 ranks, a power of two expected"
    is 0 $? "ring of three parts under $mpirun"
    # shellcheck disable=SC2086
    is "$all" "$(means 2 10 "under$passed" timeout 60 "$mpirun" $more -n 2)" "k-means under $mpirun"
    # shellcheck disable=SC2086
    is "$layer" "$(encoder "$mpirun" $more -n 2 -- --ranks 2)" "encoder under $mpirun"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

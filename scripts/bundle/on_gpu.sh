#!/usr/bin/env bash
# Everything that this bundle can show on a GPU, in one folder. A part that fails does not stop the others.
set -uo pipefail

# shellcheck source=scripts/bundle/program.sh
source "$(dirname "${BASH_SOURCE[0]}")/program.sh"

usage() {
  cat <<'USAGE'
usage: ./on_gpu.sh [--quick] [--output DIR] [--without-gpu]

Measures everything in this bundle on the first visible GPU (CUDA_VISIBLE_DEVICES chooses another) and packs it:

  environment   machine, driver, clocks; nothing is ever changed on the GPU
  verified      every CUDA stage on every layer, and on awkward shapes, at batches 1, 3 and 8, against float64
  ladder        the layers of lenet28, lenet72 and lenet86 at batches 100, 1000 and 10000: all stages, those on tensor
                cores among them, with cuDNN in fp32 and in tf32 beside them, caches hot and cold, ceilings and floors
  others        the layers of lenet48, lenet64 and lenet70 at batch 1000
  alexnet       AlexNet's five layers at batches 16 and 128
  networks      whole networks: op times and where the time goes
  sweep         tile sizes of four stages by measured time, for the tables of a clone
  counted       the counters of the simulated device for the same kernels (on the CPU)
  ncu           Nsight Compute's counters of some of these kernels, if ncu is installed and allowed to count
  goals         which goals are met
  charts        charts, tables and report.html, where Python has matplotlib and Jinja2

It writes results/<device>-<date>/ below the current folder, and the same as results/<device>-<date>.tar.gz: unpack that
below results/ of a clone to commit it. At the end it says what could not be done, and why.

  --quick         smaller batches and less time for each case: takes minutes; use it to see whether everything works
  --output DIR    another folder, which must not exist yet
  --without-gpu   on a machine without a GPU: the CPU ladder and the counters of the simulated device

cuDNN is not included: it is used if the dynamic linker finds it or Python's package nvidia-cudnn is installed.

exit status: 0 all parts done; 1 some parts failed, the others are done; 2 usage; 3 no GPU, nothing was done.
USAGE
}

usage_error() {
  echo "on_gpu.sh: $*, see --help" >&2
  exit 2
}

quick=false without_gpu=false output=''
while (($#)); do
  case "$1" in
    --quick) quick=true ;;
    --without-gpu) without_gpu=true ;;
    --output)
      [[ -n ${2:-} ]] || usage_error "--output needs a folder"
      output="$2"
      shift
      ;;
    --output=*) output="${1#*=}" ;;
    --help | -h) usage && exit ;;
    *) usage_error "unknown argument '$1'" ;;
  esac
  shift
done

program="$here/convladder"
# What `convladder list --machine` says of the CUDA device: its name, or why there is none.
of_cuda_device() { "$program" list --machine | awk '/^device /{cuda = ($2 == "cuda")} cuda && /^  /{sub("^  ", ""); print}'; }

if $without_gpu; then
  device=cpu
  title="$(uname -n)-without-gpu"
else
  device=cuda
  title=$(of_cuda_device | sed -n 's/^name  *//p')
  if [[ -z $title ]]; then
    why=$(of_cuda_device | head -n 1)
    echo "on_gpu.sh: ${why:-no CUDA device, and no CUDA variants in this bundle}; --without-gpu runs the parts that need no GPU" >&2
    exit 3
  fi
fi
if [[ -z $output ]]; then
  output="results/$(tr '[:upper:] ' '[:lower:]-' <<<"$title" | sed 's/[^a-z0-9.-]//g')-$(date +%Y%m%d-%H%M%S)"
fi
[[ ! -e $output ]] || usage_error "$output is there already"
mkdir -p -- "$output/log" || exit 1
output=$(cd -- "$output" && pwd)

# cuDNN as Python's packages bring it.
if [[ -n $python ]] && cudnn=$("$python" -c 'import nvidia.cudnn as c; print(c.__path__[0])' 2>/dev/null); then
  export LD_LIBRARY_PATH="$cudnn/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi

missing=()
# part NAME COMMAND...: runs it with its output in the log and on the terminal; what fails is remembered.
part() {
  local name="$1" status
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$output/log/$name.txt"
  status=${PIPESTATUS[0]}
  ((status == 0)) || missing+=("$name: exit status $status: $(tail -n 1 "$output/log/$name.txt" | cut -c 1-200)")
}
# absent NAME WHY: a part that cannot be done here.
absent() { echo "== $1: $2" && missing+=("$1: $2"); }

# finish: the summary and the archive, also after Ctrl-C.
finish() {
  {
    echo "# $title"
    echo
    echo "By \`on_gpu.sh\`$($quick && echo " --quick") of $("$program" --version), $(date -u +%Y-%m-%dT%H:%MZ)."
    echo
    if ((${#missing[@]})); then
      echo "These parts failed or were not done:"
      echo
      printf -- '- %s\n' "${missing[@]}"
    else
      echo "All parts are done."
    fi
    for goals in "$output"/goals*.md; do
      [[ ! -f $goals ]] || { echo && cat "$goals"; }
    done
  } >"$output/README.md"
  tar --owner=0 --group=0 -C "$(dirname "$output")" -czf "$output.tar.gz" "$(basename "$output")" ||
    missing+=("archive: tar failed")
  echo
  if ((${#missing[@]})); then printf 'not done: %s\n' "${missing[@]}"; fi
  echo "$output"
  echo "$output.tar.gz"
  ((${#missing[@]} == 0))
}
trap 'missing+=("interrupted: what comes after it is missing"); finish; exit 130' INT TERM

environment() {
  "$program" list --machine --format json >"$output/environment.json" && "$program" list --machine
  ! command -v nvidia-smi >/dev/null || nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,ECC
}

measured=()  # records with times
# measure NAME OPTIONS...: a run into a folder of its own.
measure() {
  local name="$1"
  shift
  part "$name" "$program" run --device "$device" "$@" "${time_options[@]}" --output "$output/$name"
  if [[ -f $output/$name/run.json ]]; then
    measured+=("$output/$name/run.json")
  else
    missing+=("$name: no record")
  fi
}

verify() {
  "$program" run --device "$device" --batch 1,3,8 --repetitions 1 --benchmark_min_time=0.000001 \
    --network lenet28,lenet48,lenet64,lenet70,lenet72,lenet86,alexnet \
    --shape 3,9,9,4,3,2,1 --shape 8,20,23,12,3,2,1 --shape 2,17,19,5,1,2 --shape 1,5,5,3,5 --shape 6,40,21,17,7 \
    --output "$output/verified"
}

goals() {
  [[ -n $python ]] || { echo "no Python 3 here" && return 1; }
  "$python" -B "$here/scripts/against_library.py" --device "$device" --goals "${measured[@]}" >"$output/goals-$device.md" &&
    "$python" -B "$here/scripts/against_library.py" --device "$device" --goals --format text "${measured[@]}"
}

charts() {
  local record status=0
  for record in "${measured[@]}" "$output"/counted/run.json "$output"/networks/network.json; do
    [[ -f $record ]] || continue
    "$python" -B "$here/scripts/charts.py" "$record" --format svg || status=1
    PYTHON="$python" "$program" report "$record" || status=1
  done
  return "$status"
}

# The stages that ncu looks at: the lower half, and the best of the upper one. Every launch is run many times.
ncu_variants=(global-memory shared-memory block-remap compile-time register-tile vectors-of-four implicit-gemm)
counters_of_ncu() {
  local metrics variant name
  [[ -n $python ]] || { echo "no Python 3 here" && return 1; }
  metrics=$("$program" list --metrics --format json | "$python" -c 'import json, sys
print(",".join(one["name"] for one in json.load(sys.stdin)["metrics"] if not one["modelled"]))') || return 1
  mkdir -p "$output/ncu"
  for variant in "${ncu_variants[@]}"; do
    name="$variant.lenet72.conv2.8"
    CONVLADDER_PROGRAM="$program" "$here/scripts/ncu.sh" --variant "$variant" --layer lenet72.conv2 --batch 8 \
      --output "$output/ncu" -- --metrics "$metrics" --force-overwrite || return 1
    rm -rf "$output/ncu/run"
    ncu --import "$output/ncu/$name.ncu-rep" --csv --page raw --print-units base >"$output/ncu/$name.csv" || return 1
  done
  "$python" -B "$here/scripts/against_ncu.py" "$output/counted/run.json" "$output"/ncu/*.csv >"$output/ncu/table.md"
}

# Tile sizes by time: what the tables of a clone take (docs/sweep.md).
sweep() {
  "$program" sweep --variant many-images,vectors-of-four,implicit-gemm,tensor-image --device cuda \
    --layer lenet28.conv1,lenet72.conv1,lenet72.conv2,lenet86.conv2 --batch 1000 --budget 0.2 --output "$output/sweep"
}

small="lenet28,lenet72,lenet86"
if $quick; then
  time_options=(--budget 0.1) ladder_batches=100 others_batches=100 alexnet_batches=1
else
  time_options=() ladder_batches=100,1000,10000 others_batches=1000 alexnet_batches=16,128
fi
part environment environment
if $without_gpu; then
  $quick || ladder_batches=100,1000
  measure ladder --network "$small" --batch "$ladder_batches"
  $quick || measure alexnet --network alexnet --batch 16
else
  part verified verify
  measure ladder --network "$small" --batch "$ladder_batches"
  measure others --network lenet48,lenet64,lenet70 --batch "$others_batches"
  measure alexnet --network alexnet --batch "$alexnet_batches"
  part networks "$program" network --device "$device" --network "$small,alexnet" \
    --output "$output/networks"
  $quick || part sweep sweep
fi
part counted "$program" run --device simulated --network lenet28,lenet72 --batch 8 --output "$output/counted"
if ! $without_gpu; then
  if command -v ncu >/dev/null; then part ncu counters_of_ncu; else absent ncu "ncu is not installed"; fi
  if ! "$program" list | grep -q cudnn; then
    absent cuDNN "this bundle was built without its header: the ladder has no library beside it"
  elif why=$(grep -m 1 -o 'libcudnn.*' "$output/log/ladder.txt"); then
    absent cuDNN "$why"
  fi
fi
part goals goals
if $has_matplotlib; then part charts charts; else absent charts "no Python 3 with matplotlib; charts.py draws later"; fi
finish

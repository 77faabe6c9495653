# The parts of on_gpu.sh: what each runs, and how long that is thought to take; sourced, never run. Uses `program`,
# `device`, `output`, `python` and `here`.
# Variables are of the script that sources this; lists with commas are one word of the program.
# shellcheck shell=bash disable=SC2154,SC2034,SC2054

all_parts=(environment verified ladder networks overlap fused leave-one-out others alexnet profiles sweep counted ncu
           goals charts)
parts_without_gpu=(environment ladder alexnet counted goals charts)
# The stages that ncu looks at: the lower half, and the best of the upper one. Every launch is run many times.
ncu_variants=(global-memory shared-memory block-remap compile-time register-tile vectors-of-four implicit-gemm)
verified_shapes=(--shape 3,9,9,4,3,2,1 --shape 8,20,23,12,3,2,1 --shape 2,17,19,5,1,2 --shape 1,5,5,3,5 --shape 6,40,21,17,7)

# describe_part NAME full|quick: sets `words`, the program's words, and `record`, what it writes below $output/NAME; or
# `function` and `seconds`, what that is thought to take.
describe_part() {
  local small="lenet28,lenet72,lenet86" time=()
  words=() record='' function='' seconds=60
  [[ $2 == full ]] || { small="lenet28,lenet72" && time=(--budget 0.1); }
  case "$1/$2" in
    ladder/full) words=(run --network "$small" --batch "$($without_gpu && echo 100,1000 || echo 100,1000,10000)") ;;
    # One batch of the layers of the goals, which ask for so many images.
    ladder/quick) words=(run --network "$small" --batch "$($without_gpu && echo 100 || echo 1000)") ;;
    verified/*)
      words=(run --repetitions 1 --benchmark_min_time=0.000001 "${verified_shapes[@]}") time=()
      if [[ $2 == full ]]; then
        words+=(--batch 1,3,8 --network lenet28,lenet48,lenet64,lenet70,lenet72,lenet86,alexnet)
      else
        words+=(--batch 3)
      fi
      ;;
    networks/full) words=(network --network "$small,alexnet" --variant best) ;;
    networks/quick) words=(network --network lenet72 --batch 100 --variant best) ;;
    overlap/full) words=(network --overlap --network "$small,alexnet" --variant best) ;;
    overlap/quick) words=(network --overlap --network lenet72 --batch 100 --variant best) ;;
    fused/full) words=(run --problem fused-convolution --network "$small" --batch 100,1000) ;;
    fused/quick) words=(run --problem fused-convolution --network lenet72 --batch 1000) ;;
    leave-one-out/full) words=(run --leave-one-out) ;;
    leave-one-out/quick) words=(run --leave-one-out --batch 1000) ;;
    others/full) words=(run --network lenet48,lenet64,lenet70 --batch 1000) ;;
    others/quick) words=(run --network lenet64 --batch 1000) ;;
    alexnet/full) words=(run --network alexnet --batch "$($without_gpu && echo 16 || echo 16,128)") ;;
    alexnet/quick) words=(run --layer alexnet.conv3 --batch "$($without_gpu && echo 1 || echo 16)") ;;
    sweep/full)
      words=(sweep --variant many-images,vectors-of-four,implicit-gemm,tensor-image --batch 1000 --budget 0.2
             --layer lenet28.conv1,lenet72.conv1,lenet72.conv2,lenet86.conv2)
      ;;
    sweep/quick)
      words=(sweep --variant vectors-of-four --layer lenet72.conv2 --batch 100 --budget 0.05 --limit 6)
      ;;
    counted/full) words=(run --network lenet28,lenet72 --batch 8) time=() ;;
    counted/quick) words=(run --layer lenet72.conv2 --batch 8) time=() ;;
    environment/*) function=environment seconds=5 ;;
    profiles/full) function=profiles seconds=120 ;;
    profiles/quick) function=profiles seconds=20 ;;
    ncu/full) function=counters_of_ncu seconds=$((45 * ${#ncu_variants[@]})) ;;
    ncu/quick) function=counters_of_ncu seconds=45 ;;
    goals/*) function=goals seconds=5 ;;
    charts/full) function=charts seconds=90 ;;
    charts/quick) function=charts seconds=45 ;;
  esac
  ((${#words[@]})) || return 0
  record="${words[0]}"
  [[ ${words[0]} == sweep ]] || words+=("${time[@]}")
}

# device_of NAME: where a part's cases run.
device_of() { if [[ $1 == counted ]]; then echo simulated; else echo "$device"; fi; }

# estimate NAME full|quick: prints the seconds: what the program predicts of its words, and some to start and to end. On
# the CPU it would time calls for that.
estimate() {
  local words record function seconds predicted=''
  describe_part "$1" "$2"
  if $without_gpu && [[ $record == run && $1 != counted ]]; then
    if [[ $2 == full ]]; then seconds=1200; else seconds=240; fi
  elif ((${#words[@]})); then
    predicted=$("$program" "$record" --device "$(device_of "$1")" "${words[@]:1}" --dry-run 2>/dev/null |
      sed -nE 's/.*, about ([0-9hms]+) \(predicted.*/\1/p' | tail -n 1)
    [[ -z $predicted ]] || seconds=$(($(seconds_in "$predicted") + 5))
  fi
  echo "$seconds"
}

# seconds_in 1h02m|3m05s|42s: prints them.
seconds_in() {
  local hours=0 minutes=0 seconds=0
  [[ $1 =~ ^(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?$ ]] || return
  hours="${BASH_REMATCH[2]:-0}" minutes="${BASH_REMATCH[4]:-0}" seconds="${BASH_REMATCH[6]:-0}"
  echo $((10#$hours * 3600 + 10#$minutes * 60 + 10#$seconds))
}

environment() {
  "$program" list --machine --format json >"$output/environment.json" && "$program" list --machine
  ! command -v nvidia-smi >/dev/null || nvidia-smi -q -d CLOCK,PERFORMANCE,POWER,ECC,COMPUTE,PIDS
}

# Runs with times, whose records `goals` and `charts` take.
timed_records() {
  local part
  for part in ladder others alexnet; do
    [[ ! -f $output/$part/run.json ]] || echo "$output/$part/run.json"
  done
}

goals() {
  local records
  [[ -n $python ]] || { echo "no Python 3 here" && return 1; }
  mapfile -t records < <(timed_records)
  ((${#records[@]})) || { echo "no run with times" && return 1; }
  "$python" -B "$here/scripts/against_library.py" --device "$device" --goals --leave-out-unusable "${records[@]}" \
    >"$output/goals-$device.md" &&
    "$python" -B "$here/scripts/against_library.py" --device "$device" --goals --leave-out-unusable --format text \
      "${records[@]}"
}

charts() {
  local record status=0
  while read -r record; do
    [[ -f $record ]] || continue
    "$python" -B "$here/scripts/charts.py" "$record" --format svg || status=1
    PYTHON="$python" "$program" report "$record" || status=1
  done < <(timed_records && printf '%s\n' "$output"/{fused,leave-one-out,counted}/run.json "$output"/{networks,overlap}/network.json)
  return "$status"
}

profiles() {
  local network status=0 networks=(lenet28 lenet72 alexnet)
  [[ ${mode[profiles]} == full ]] || networks=(lenet72)
  mkdir -p "$output/profiles"
  for network in "${networks[@]}"; do
    "$program" profile --network "$network" --device "$device" --batch 100 --layout nsys --cut 100 \
      --output "$output/profiles/$network.txt" && cat "$output/profiles/$network.txt" || status=1
  done
  if command -v nsys >/dev/null; then
    CONVLADDER_PROGRAM="$program" "$here/scripts/nsys.sh" --variant vectors-of-four --layer lenet72.conv2 --batch 1000 \
      --calls 20 --output "$output/profiles/timeline" || status=1
  else
    echo "no timeline: nsys is not installed"
  fi
  return "$status"
}

# metrics_of_this_chip: prints those that the simulated device counts and this GPU has, with commas; names the others.
metrics_of_this_chip() {
  local wanted known one has=() absent=()
  wanted=$("$program" list --metrics --format json | "$python" -c 'import json, sys
print("\n".join(one["name"] for one in json.load(sys.stdin)["metrics"] if not one["modelled"]))') || return 1
  # "smsp__inst_executed   Counter   …": names without ".sum" and the like. Without an answer all are asked for.
  known=$(ncu --query-metrics 2>/dev/null | sed -nE 's/^ *([a-z0-9_]+__[a-z0-9_]+).*/\1/p')
  while read -r one; do
    if [[ -z $known ]] || grep -q -x -F "${one%%.*}" <<<"$known"; then has+=("$one"); else absent+=("$one"); fi
  done <<<"$wanted"
  ((${#absent[@]} == 0)) || echo "not counted on this GPU: ${absent[*]}" >&2
  (IFS=, && echo "${has[*]}")
}

counters_of_ncu() {
  local metrics variant name failed=() variants=("${ncu_variants[@]}")
  command -v ncu >/dev/null || { echo "ncu is not installed" && return "$exit_absent"; }
  [[ -n $python ]] || { echo "no Python 3 here" && return 1; }
  [[ ${mode[ncu]} == full ]] || variants=(vectors-of-four)
  metrics=$(metrics_of_this_chip) || return 1
  [[ -n $metrics ]] || { echo "this GPU has none of the metrics" && return 1; }
  mkdir -p "$output/ncu"
  for variant in "${variants[@]}"; do
    name="$variant.lenet72.conv2.8"
    [[ ! -s $output/ncu/$name.csv ]] || continue  # counted before this was ended and resumed
    if CONVLADDER_PROGRAM="$program" "$here/scripts/ncu.sh" --variant "$variant" --layer lenet72.conv2 --batch 8 \
      --output "$output/ncu" -- --metrics "$metrics" --force-overwrite &&
      ncu --import "$output/ncu/$name.ncu-rep" --csv --page raw --print-units base >"$output/ncu/$name.partial"; then
      mv -- "$output/ncu/$name.partial" "$output/ncu/$name.csv"
    else
      failed+=("$variant")
    fi
    rm -rf -- "$output/ncu/run" "$output/ncu/$name.partial"
  done
  if ((${#failed[@]} < ${#variants[@]})); then
    "$python" -B "$here/scripts/against_ncu.py" "$output/counted/run.json" "$output"/ncu/*.csv >"$output/ncu/table.md" ||
      failed+=("the table")
  fi
  ((${#failed[@]} == 0)) || { echo "ncu failed for ${failed[*]}" && return 1; }
}

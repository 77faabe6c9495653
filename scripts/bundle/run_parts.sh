# How on_gpu.sh plans and runs its parts: in time, one after the other, and so that nothing is lost; sourced, never run.
# shellcheck shell=bash disable=SC2154  # the script that sources this sets what it uses

readonly exit_absent=77       # of a part's function: it cannot be done here
readonly seconds_to_pack=15   # of the minutes, for the archive
readonly seconds_to_end=60    # that a part has to end in when it is asked to: then it is killed

declare -A mode=()            # by part: full, quick; none for one that is left out
declare -A thought=()         # seconds
parts=()                      # that are chosen, in order
left_out=()                   # "sweep: about 15 min, more than is left of --minutes"
missing=()                    # "ncu: exit status 1: …"

# finished_before NAME: whether a run that is resumed has nothing to do there. Sets `state_status` and `state_text`.
finished_before() {
  [[ -n $resume && -f $output/log/state/$1 ]] || return 1
  read -r state_status state_text <"$output/log/state/$1"
  # A record with cases that failed is complete; what follows from records is made anew.
  [[ $1 != goals && $1 != charts ]] && { ((state_status == 0)) || [[ $state_status == 1 && -n $(ls "$output/$1"/*.json 2>/dev/null) ]]; }
}

# choose_parts: sets `parts`, and `mode` and `thought` of each.
choose_parts() {
  local name one known=("${all_parts[@]}") left last
  ! $without_gpu || known=("${parts_without_gpu[@]}")
  if [[ -n $only ]]; then
    IFS=, read -r -a one <<<"$only"
    for name in "${one[@]}"; do
      [[ " ${known[*]} " == *" $name "* ]] || usage_error "--only: no part '$name'; there are ${known[*]}"
    done
    for name in "${known[@]}"; do
      [[ $name != environment && ",$only," != *",$name,"* ]] || parts+=("$name")
    done
  else
    for name in "${known[@]}"; do
      $quick && [[ $name =~ ^(others|alexnet|sweep)$ ]] || parts+=("$name")
    done
  fi
  if [[ -z $minutes ]]; then
    for name in "${parts[@]}"; do
      mode[$name]=$($quick && echo quick || echo full)
      thought[$name]=$(estimate "$name" "${mode[$name]}")
    done
    return
  fi
  # What draws and judges needs its time at the end; the others share the rest in their order.
  left=$((60 * minutes - seconds_to_pack))
  for last in goals charts; do
    [[ " ${parts[*]} " == *" $last "* ]] || continue
    mode[$last]=quick thought[$last]=$(estimate "$last" quick)
    ((left -= thought[$last]))
  done
  for name in "${parts[@]}"; do
    [[ -z ${mode[$name]:-} ]] || continue
    if finished_before "$name"; then
      mode[$name]=full thought[$name]=0
      continue
    fi
    for one in full quick; do
      [[ $one == quick ]] || ! $quick || continue
      thought[$name]=$(estimate "$name" "$one")
      # The first part that measures is begun in any case: some of it is better than nothing.
      if ((thought[$name] <= left)) || [[ $one == quick && $name == ladder ]]; then
        mode[$name]=$one
        ((left -= thought[$name])) || true
        ((left >= 0)) || left=0
        break
      fi
    done
    [[ -n ${mode[$name]:-} ]] ||
      left_out+=("$name: about $(time_text "${thought[$name]}"), and --minutes $minutes leaves $(time_text "$left")")
  done
}

time_text() { if (($1 < 100)); then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi; }

print_plan() {
  local name sum=0 text
  for name in "${parts[@]}"; do
    [[ -n ${mode[$name]:-} ]] || continue
    text="about $(time_text "${thought[$name]}")"
    if finished_before "$name"; then text="done before"; else ((sum += thought[$name])) || true; fi
    printf '%-14s %-6s %s\n' "$name" "${mode[$name]}" "$text"
  done
  ((${#left_out[@]} == 0)) || printf 'left out: %s\n' "${left_out[@]}"
  echo "in all about $(time_text "$sum")${minutes:+, at most $minutes min}"
}

ended_by=''      # "INT" and its like, once a signal has come
tell_child() { [[ -z $child ]] || kill "-$1" -- "-$child" 2>/dev/null || true; }
child=''
end_for() {
  [[ -n $ended_by ]] || ended_by=$1
  # The terminal is gone: what is said from now on goes into a file.
  [[ $1 != HUP ]] || exec >>"$output/log/on_gpu.txt" 2>&1
  tell_child TERM
}

# run_watched LOG SECONDS COMMAND...: runs it in a process group of its own, its output in LOG and on the terminal; for
# more than SECONDS (0: any time), or after a signal, it is asked to end. Returns its status, 124 where it was too slow.
run_watched() {
  local log="$1" limit="$2" begin=$SECONDS asked='' status shower line
  shift 2
  : >>"$log"
  line=$(($(wc -l <"$log") + 1))  # of a part that is resumed, what was said before is on the terminal already
  set -m
  "$@" >>"$log" 2>&1 </dev/null &
  child=$!
  set +m
  tail -n "+$line" -s 0.1 --pid="$child" -f "$log" 2>/dev/null &
  shower=$!
  while kill -0 "$child" 2>/dev/null; do
    if [[ -z $asked ]] && { [[ -n $ended_by ]] || ((limit > 0 && SECONDS - begin >= limit)); }; then
      asked=$SECONDS
      tell_child TERM
    elif [[ -n $asked ]] && ((SECONDS - asked >= seconds_to_end)); then
      tell_child KILL
    fi
    sleep 0.1 &
    wait $! 2>/dev/null
  done
  wait "$child" 2>/dev/null
  status=$?
  child=''
  wait "$shower" 2>/dev/null
  [[ -z $asked || -n $ended_by ]] || status=124
  return "$status"
}

# run_part NAME: what fails is remembered, and what is finished.
run_part() {
  # shellcheck disable=SC2034  # describe_part sets them
  local name="$1" limit=0 status text words record function case_seconds seconds state_status state_text
  local log="$output/log/$name.txt"
  if finished_before "$name"; then
    echo "== $name: done before"
    ((state_status == 0)) || missing+=("$name: $state_text")
    return
  fi
  if [[ -n $minutes ]]; then
    limit=$((60 * minutes - SECONDS - seconds_to_pack))
    if [[ $name != goals && $name != charts ]]; then
      ((limit -= ${thought[goals]:-0} + ${thought[charts]:-0})) || true
      if ((limit < 5)); then
        missing+=("$name: not begun: --minutes $minutes are over")
        return
      fi
    fi
    ((limit > 10)) || limit=10
  fi
  describe_part "$name" "${mode[$name]}"
  [[ $name != charts ]] || $has_matplotlib || { absent charts "no Python 3 with matplotlib; charts.py draws later" && return; }
  echo "== $name"
  if [[ -n $function ]]; then
    run_watched "$log" "$limit" "$function"
  elif [[ -f $output/$name/$record.json ]]; then
    run_watched "$log" "$limit" "$program" "$record" --resume "$output/$name"
  else
    rm -rf -- "${output:?}/$name"  # without a record there is nothing in it
    run_watched "$log" "$limit" "$program" "$record" --device "$(device_of "$name")" "${words[@]:1}" --output "$output/$name"
  fi
  status=$?
  text=$(tail -n 1 "$log" | cut -c 1-200)
  if ((status == exit_absent)); then
    missing+=("$name: $text")
  elif [[ -n $ended_by ]]; then
    missing+=("$name: interrupted")
    return
  elif ((status == 124)); then
    missing+=("$name: ended after $(time_text "$limit"), for --minutes $minutes")
    return
  else
    ((status == 0)) || missing+=("$name: exit status $status: $text")
    [[ -z $record || -f $output/$name/$record.json ]] || missing+=("$name: no record")
  fi
  ((status == exit_absent)) || echo "$status exit status $status: $text" >"$output/log/state/$name"
}

# absent NAME WHY: a part that cannot be done here.
absent() { echo "== $1: $2" && missing+=("$1: $2"); }

run_all_parts() {
  local name why
  trap '' PIPE
  trap 'end_for INT' INT
  trap 'end_for TERM' TERM
  trap 'end_for HUP' HUP
  for name in "${parts[@]}"; do
    [[ -n ${mode[$name]:-} ]] || continue
    run_part "$name"
    if [[ -n $ended_by ]]; then
      missing+=("interrupted: what comes after it is missing; --resume $output goes on")
      finish
      exit $((128 + $(kill -l "$ended_by")))
    fi
    pack || true
  done
  if ! $without_gpu && [[ -f $output/log/ladder.txt ]]; then
    if [[ $("$program" list) != *cudnn* ]]; then  # not by a pipe that ends before the list does
      absent cuDNN "this bundle was built without its header: the ladder has no library beside it"
    elif why=$(grep -m 1 -o 'libcudnn.*' "$output/log/ladder.txt"); then
      absent cuDNN "$why"
    fi
  fi
}

# write_summary: README.md of the folder.
write_summary() {
  local goals
  {
    echo "# $title"
    echo
    echo "By \`on_gpu.sh\`$($quick && echo " --quick")${minutes:+ --minutes $minutes}${only:+ --only $only} of $("$program" --version), $(date -u +%Y-%m-%dT%H:%MZ)."
    echo
    if ((${#missing[@]})); then
      echo "These parts failed or were not done:"
      echo
      printf -- '- %s\n' "${missing[@]}"
    else
      echo "All parts are done."
    fi
    if ((${#left_out[@]})); then
      echo
      echo "Left out:"
      echo
      printf -- '- %s\n' "${left_out[@]}"
    fi
    for goals in "$output"/goals*.md; do
      [[ ! -f $goals ]] || { echo && cat "$goals"; }
    done
  } >"$output/README.md"
}

# pack: the archive of what is there now, whole or not at all.
pack() {
  write_summary
  tar --owner=0 --group=0 -C "$(dirname "$output")" -czf "$output.tar.gz.partial" "$(basename "$output")" &&
    mv -- "$output.tar.gz.partial" "$output.tar.gz"
}

# finish: the summary and the archive. Fails where something was not done.
finish() {
  pack || missing+=("archive: tar failed")
  echo
  if ((${#left_out[@]})); then printf 'left out: %s\n' "${left_out[@]}"; fi
  if ((${#missing[@]})); then printf 'not done: %s\n' "${missing[@]}"; fi
  echo "$output"
  echo "$output.tar.gz"
  ((${#missing[@]} == 0))
}

# How on_gpu.sh plans and runs its parts: in time, one after the other, and so that nothing is lost; sourced, never run.
# shellcheck shell=bash disable=SC2154  # the script that sources this sets what it uses

readonly exit_absent=77         # of a part's function: it cannot be done here
readonly seconds_to_pack=15     # of the minutes, for the archive
readonly seconds_to_end=3       # that a part has to end in when it is asked to: then it is killed. Who ends this from
                                # outside often allows ten seconds for all of it
readonly seconds_to_renew=5     # between two archives while a part is at work, at least
readonly share_of_packing=20    # an archive that took a second is renewed after so many, at least

declare -A mode=()            # by part: full, quick; none for one that is left out
declare -A thought=()         # seconds
parts=()                      # that are chosen, in order
ended_by=''                   # "INT" and its like, once a signal has come
child=''                      # the process of the part that is being run

# What is known of a part is in log/state/NAME, over all calls for this folder: an exit status of what it ran, or one of
# planned, begun, left-out, cut, absent; then words for people.
set_state() {  # NAME WORD TEXT
  local file="$output/log/state/$1"
  echo "$2 $3" >"$file.partial" && mv -- "$file.partial" "$file"
}
# get_state NAME: sets `state` and `state_text`; fails where nothing is known.
get_state() {
  state='' state_text=''
  [[ -f $output/log/state/$1 ]] && read -r state state_text <"$output/log/state/$1"
}

# finished_before NAME: whether a run that is resumed has nothing to do there.
finished_before() {
  local state state_text
  [[ -n $resume && $1 != goals && $1 != charts ]] && get_state "$1" || return 1  # those two follow from records
  # A record with cases that failed is complete.
  [[ $state == 0 || ($state == 1 && -n $(ls "$output/$1"/*.json 2>/dev/null)) ]]
}

# choose_parts: sets `parts`, and `mode` and `thought` of each; `left_out`, by part, why it is.
declare -A left_out=()
choose_parts() {
  local name one known=("${all_parts[@]}") left last most
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
      # Whatever the ladder times it verifies, too: what only verifies leaves it most of the time.
      most=$left
      [[ $name != verified || ",$only," == *,verified,* ]] || most=$((left / 4))
      # The ladder is begun in any case: some of it is better than nothing.
      if ((thought[$name] <= most)) || [[ $one == quick && $name == ladder ]]; then
        mode[$name]=$one
        ((left -= thought[$name])) || true
        ((left >= 0)) || left=0
        break
      fi
    done
    [[ -n ${mode[$name]:-} ]] ||
      left_out[$name]="about $(time_text "${thought[$name]}"), and --minutes $minutes leaves $(time_text "$most")"
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
  for name in "${parts[@]}"; do
    [[ -z ${left_out[$name]:-} ]] || echo "left out: $name: ${left_out[$name]}"
  done
  echo "in all about $(time_text "$sum")${minutes:+, at most $minutes min}"
}

tell_child() { [[ -z $child ]] || kill "-$1" -- "-$child" 2>/dev/null || true; }
end_for() {
  [[ -n $ended_by ]] || ended_by=$1
  # The terminal is gone: what is said from now on goes into a file.
  [[ $1 != HUP ]] || exec >>"$output/log/on_gpu.txt" 2>&1
  tell_child TERM
}

# run_watched LOG SECONDS COMMAND...: runs it in a process group of its own, its output in LOG and on the terminal; for
# more than SECONDS (0: any time), or after a signal, it is asked to end. Returns its status, 124 where it was too slow.
# The archive is renewed meanwhile, and at once where this has to end.
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
      renew_archive now
    elif [[ -n $asked ]] && ((SECONDS - asked >= seconds_to_end)); then
      tell_child KILL
    elif [[ -z $asked ]]; then
      renew_archive
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

# run_part NAME: what becomes of it is its state.
run_part() {
  # shellcheck disable=SC2034  # describe_part sets them
  local name="$1" limit=0 status text words record function seconds state state_text with_this=()
  local log="$output/log/$name.txt"
  if finished_before "$name"; then
    echo "== $name: done before"
    return
  fi
  if [[ -n $minutes ]]; then
    limit=$((60 * minutes - SECONDS - seconds_to_pack))
    if [[ $name != goals && $name != charts ]]; then
      ((limit -= ${thought[goals]:-0} + ${thought[charts]:-0})) || true
      if ((limit < 5)); then
        # Of one that was begun before it stays known how that ended.
        { get_state "$name" && [[ $state != planned && $state != left-out ]]; } ||
          set_state "$name" absent "not begun: --minutes $minutes were over"
        return
      fi
    fi
    ((limit > 10)) || limit=10
  fi
  describe_part "$name" "${mode[$name]}"
  [[ $name != charts ]] || $has_matplotlib || { absent charts "no Python 3 with matplotlib; charts.py draws later" && return; }
  echo "== $name"
  set_state "$name" begun "at work when this was written"
  # The program ends with this script, also where that is killed.
  if setpriv --pdeathsig TERM true 2>/dev/null; then with_this=(setpriv --pdeathsig TERM); fi
  if [[ -n $function ]]; then
    run_watched "$log" "$limit" "$function"
  elif [[ -f $output/$name/$record.json ]]; then
    run_watched "$log" "$limit" "${with_this[@]}" "$program" "$record" --resume "$output/$name"
  else
    rm -rf -- "${output:?}/$name"  # without a record there is nothing in it
    run_watched "$log" "$limit" "${with_this[@]}" "$program" "$record" --device "$(device_of "$name")" "${words[@]:1}" \
      --output "$output/$name"
  fi
  status=$?
  text=$(tail -n 1 "$log" | cut -c 1-200)
  if ((status == exit_absent)); then
    set_state "$name" absent "$text"
  elif [[ -n $ended_by ]]; then
    set_state "$name" cut "interrupted"
  elif ((status == 124)); then
    set_state "$name" cut "ended after $(time_text "$limit"), for --minutes $minutes"
  elif [[ -n $record && ! -f $output/$name/$record.json ]]; then
    set_state "$name" absent "exit status $status and no record: $text"
  else
    set_state "$name" "$status" "exit status $status: $text"
  fi
}

# absent NAME WHY: a part that cannot be done here.
absent() { echo "== $1: $2" && set_state "$1" absent "$2"; }

run_all_parts() {
  local name why state state_text
  trap '' PIPE
  trap 'end_for INT' INT
  trap 'end_for TERM' TERM
  trap 'end_for HUP' HUP
  for name in "${all_parts[@]}"; do
    ! get_state "$name" || [[ $state != begun ]] || set_state "$name" cut "cut short: this script was killed"
  done
  for name in "${parts[@]}"; do
    if [[ -n ${mode[$name]:-} ]]; then
      if ! get_state "$name" || [[ $state == left-out ]]; then set_state "$name" planned "not begun"; fi
    elif ! get_state "$name" || [[ $state == planned || $state == left-out ]]; then
      set_state "$name" left-out "${left_out[$name]}"
    fi
  done
  pack || true
  for name in "${parts[@]}"; do
    [[ -n ${mode[$name]:-} ]] || continue
    [[ -n $ended_by ]] || run_part "$name"
    if [[ -n $ended_by ]]; then
      finish
      exit $((128 + $(kill -l "$ended_by")))
    fi
    pack || true
  done
  if ! $without_gpu && [[ -f $output/log/ladder.txt ]]; then
    rm -f -- "$output/log/state/cuDNN"
    if [[ $("$program" list) != *cudnn* ]]; then  # not by a pipe that ends before the list does
      absent cuDNN "this bundle was built without its header: the ladder has no library beside it"
    elif why=$(grep -m 1 -o 'libcudnn.*' "$output/log/ladder.txt"); then
      absent cuDNN "$why"
    fi
  fi
}

# lines_of WHICH NAME...: prints "NAME: why" of those parts that are left-out, or not done for another reason.
lines_of() {
  local which="$1" name state state_text
  shift
  for name in "$@"; do
    if ! get_state "$name" || [[ $state == 0 ]]; then continue; fi
    if [[ $which == left-out ]]; then [[ $state == left-out ]] || continue; else [[ $state != left-out ]] || continue; fi
    echo "$name: $state_text"
  done
}

# write_summary: README.md of the folder: what is known of every part that any call for it had.
write_summary() {
  local goals name state state_text done_parts='' missing left
  for name in "${all_parts[@]}"; do
    ! get_state "$name" || [[ $state != 0 ]] || done_parts+="${done_parts:+, }$name"
  done
  missing=$(lines_of missing "${all_parts[@]}" cuDNN)
  left=$(lines_of left-out "${all_parts[@]}")
  {
    echo "# $title"
    echo
    echo "By \`on_gpu.sh\`$($quick && echo " --quick")${minutes:+ --minutes $minutes}${only:+ --only $only} of $("$program" --version), $(date -u +%Y-%m-%dT%H:%MZ)."
    echo
    if [[ -n $missing ]]; then
      echo "These parts failed or were not done:"
      echo
      printf '%s\n' "- ${missing//$'\n'/$'\n'- }"
      echo
      echo "Done: ${done_parts:-none}. \`on_gpu.sh --resume\` with this folder goes on."
    else
      echo "All parts are done: ${done_parts:-none}."
    fi
    if [[ -n $left ]]; then
      echo
      echo "Left out:"
      echo
      printf '%s\n' "- ${left//$'\n'/$'\n'- }"
    fi
    for goals in "$output"/goals*.md; do
      [[ ! -f $goals ]] || { echo && cat "$goals"; }
    done
  } >"$output/README.md.partial" && mv -- "$output/README.md.partial" "$output/README.md"
}

# What changes while a part is at work; two archives of the same are none.
seen_of_records() { stat -c '%n %s %y' -- "$output"/*/*.json "$output"/*/*.csv 2>/dev/null; }

# renew_archive [now]: packs what the part at work has by now, if that is more than before.
renewed=0 took=0 packed_records=''
renew_archive() {
  local pause=$((share_of_packing * took))
  ((pause >= seconds_to_renew)) || pause=$seconds_to_renew
  ! $without_gpu || ((pause *= 6))  # there, what packs takes a processor from what is measured
  if [[ ${1:-} != now ]]; then
    ((SECONDS - renewed >= pause)) || return 0
    renewed=$SECONDS
    [[ $(seen_of_records) != "$packed_records" ]] || return 0
  fi
  pack || true
}

# pack: the archive of what is there now, whole or not at all: on a full disk there stays the one before. What is read
# while a case is being appended to it is read once more.
pack() {
  local begin=$SECONDS before status try
  write_summary || true
  for try in 1 2 3; do
    before=$(seen_of_records)
    tar --owner=0 --group=0 --exclude='*.partial' -C "$(dirname "$output")" -czf "$output.tar.gz.partial" \
      "$(basename "$output")" 2>"$output/log/tar.partial"
    status=$?
    # 1: some file changed meanwhile.
    ((status == 0 || (status == 1 && try == 3))) && [[ $try == 3 || $(seen_of_records) == "$before" ]] && break
    status=2
  done
  renewed=$SECONDS took=$((SECONDS - begin))
  if ((status <= 1)) && mv -- "$output.tar.gz.partial" "$output.tar.gz"; then
    packed_records="$before"
    return
  fi
  echo "on_gpu.sh: the archive could not be renewed: $(tail -n 1 "$output/log/tar.partial" 2>/dev/null)" >&2
  rm -f -- "$output.tar.gz.partial"
  return 1
}

# finish: the summary and the archive. Fails where something of this call was not done.
finish() {
  local missing name state state_text others=()
  missing=$(lines_of missing "${parts[@]}" cuDNN)
  pack || missing+="${missing:+$'\n'}archive: it could not be renewed; the one that is there may lack the last parts"
  rm -f -- "$output/log/tar.partial"
  echo
  lines_of left-out "${parts[@]}" | sed 's/^/left out: /'
  [[ -z $missing ]] || printf '%s\n' "not done: ${missing//$'\n'/$'\n'not done: }"
  for name in "${all_parts[@]}"; do
    [[ " ${parts[*]} " == *" $name "* ]] || others+=("$name")
  done
  lines_of missing "${others[@]}" | sed 's/^/not done, of an earlier call: /'
  echo "$output"
  echo "$output.tar.gz"
  [[ -z $missing ]]
}

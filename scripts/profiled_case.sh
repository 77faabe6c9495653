# What nsys.sh and ncu.sh share; sourced, never run. One case of 'convladder run' under a profiler: `parse_case` takes
# the options, `case_command` is the command that is profiled, `run_profiler` prints and runs the whole of it.
# shellcheck shell=bash disable=SC2034,SC2154  # the scripts that source this use the variables

readonly exit_usage=2
readonly exit_no_profiler=3

usage_error() {
  echo "${0##*/}: $*, see --help" >&2
  exit "$exit_usage"
}

variant='' layer='' shape='' batch=100 calls=1 output='' print_only=false
profiler_options=()  # after --, for the profiler itself

# parse_case ARGUMENT...: sets the variables above.
parse_case() {
  local known="--variant --layer --shape --batch --calls --output --print-only --help"
  while (($#)); do
    case "$1" in
      --help | -h) usage && exit ;;
      --print-only) print_only=true ;;
      --) shift && profiler_options=("$@") && break ;;
      --variant | --layer | --shape | --batch | --calls | --output)
        [[ -n ${2:-} ]] || usage_error "$1 needs a value"
        printf -v "${1#--}" %s "$2"
        shift
        ;;
      *) usage_error "unknown argument '$1'; known: $known" ;;
    esac
    shift
  done
  [[ -n $variant ]] || usage_error "--variant is missing"
  [[ -n $layer || -n $shape ]] || usage_error "--layer or --shape is missing"
  [[ -z $layer || -z $shape ]] || usage_error "--layer and --shape: only one of them"
  [[ $calls =~ ^[1-9][0-9]{0,4}$ ]] || usage_error "--calls: expected a whole number from 1 to 99999, got '$calls'"
  work=(--layer "$layer")
  [[ -z $shape ]] || work=(--shape "$shape")
  # The names of files hold no slash and no comma.
  name="$variant.${layer:-${shape//,/-}}.$batch"
  # Nothing is written where a program is installed.
  local place="$root"
  [[ -z $program_beside ]] || place=.
  output="${output:-$place/results/profiles/$name-$(date +%Y%m%dT%H%M%S)}"
}

# find_program: sets `program`: $CONVLADDER_PROGRAM, or the program of a bundle or an installed tree, or the release build,
# which is built where it is not there.
find_program() {
  program="${CONVLADDER_PROGRAM:-$program_beside}"
  if [[ -z $program ]]; then
    program="$root/build/release/convladder"
    [[ -x $program ]] || build_preset release convladder
  fi
  [[ -x $program ]] || fail "$program cannot be executed"
}

# count_launches: sets `launches`, the launches of all calls; empty where a library decides for itself what it launches.
count_launches() {
  local listed
  if listed=$("$program" list --launches --variant "$variant" "${work[@]}" --batch "$batch" --format csv 2>&1); then
    launches=$((($(wc -l <<<"$listed") - 1) * calls))  # a line each, below the titles
    return
  fi
  [[ $listed == *"decides for itself"* ]] || { echo "${0##*/}: ${listed#convladder: }" >&2 && exit "$exit_usage"; }
  launches=''
}

# case_command: sets `command`. One process, as profilers want it; the calls to be seen are in the range "profile".
case_command() {
  command=("$program" run --device cuda --isolate none --variant "$variant" "${work[@]}" --batch "$batch"
           --repetitions 1 --benchmark_min_time=0.000001 --profile-calls "$calls" --output "$output/run")
}

# run_profiler TOOL ARGUMENT...: prints the command; runs it unless --print-only or TOOL is not installed.
run_profiler() {
  printf '%q ' "$@" && echo
  if ! command -v "$1" >/dev/null; then
    echo "${0##*/}: $1 is not installed; run this command on a machine that has it" >&2
    $print_only || exit "$exit_no_profiler"
  fi
  $print_only && return
  mkdir -p "$output" || fail "cannot create $output"
  "$@" || fail "$1 ended with exit status $?"
  echo "$output"
}

#!/usr/bin/env bash
# A plan's shards on a cluster with Slurm: plan, submit, status, retry, merge.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly exit_bad_input=3

usage() {
  cat <<'USAGE'
usage: scripts/slurm.sh plan [options of 'convladder plan']
       scripts/slurm.sh submit DIR [options] [-- options of sbatch]
       scripts/slurm.sh status DIR
       scripts/slurm.sh retry DIR [--not-on NODE] [options] [-- options of sbatch]
       scripts/slurm.sh merge DIR [options of 'convladder merge']

Runs the shards of a plan on a cluster with Slurm. DIR is the plan's folder; every node has to see it, and the program,
under the same name. Tasks may be killed, requeued or submitted twice: a shard goes on where it was, and what is
finished is not run again. Needs sbatch, squeue, scontrol and Python 3.6, and no accounting database.

plan      writes DIR/plan.json
submit    puts the shards that are not finished, and not in the queue yet, into an array of Slurm
status    how many shards are finished, running, pending, failed; what failed, and where its log is
retry     submits what failed or is missing, with the options of the last submission where no others are given. If the
          last merge found a node whose sentinel is off, also what was measured there, on other nodes
merge     makes one record of the shards, DIR/run.json

options of submit and retry:
  --limit K          at most K tasks at a time (default 32; with --one-job 4)
  --one-job          one job whose steps are the shards, instead of an array; --array goes back to that
  --exclusive        nobody else on the node of a task, which is what times want
  --partition NAME, --account NAME, --qos NAME, --constraint LIST, --gres LIST, --exclude NODES   as for sbatch
  --time LIMIT       time limit of a task (with --one-job: of the job), as for sbatch. Without it: the plan's prediction
                     times the margin, plus ten minutes
  --margin X         that margin (default 3)
  --no-requeue       a task whose node is lost is not started again by Slurm
  --shards LIST      only these shards, as 0-3,7
  --dry-run          print the scripts and the calls of sbatch, and do nothing
  -- OPTIONS         go to sbatch as they are

options of retry:
  --not-on NODE      not on this node, and again what was measured on it; may be repeated

Arrays longer than Slurm's MaxArraySize are split; each part waits for the one before it, so that the limit holds. Logs
are in DIR/logs, a file for each shard; what Slurm itself says is in DIR/slurm/output.log.

examples:
  scripts/slurm.sh plan --network lenet72 --batch 100,1000 --shards 64 --output results/cluster
  scripts/slurm.sh submit results/cluster --limit 8 --exclusive --partition gpu --gres gpu:1
  scripts/slurm.sh status results/cluster
  scripts/slurm.sh retry results/cluster --not-on node17
  scripts/slurm.sh merge results/cluster

environment:
  CONVLADDER_PROGRAM   the program (default: the installed one; in a source tree build/release/convladder, built if it
                       does not exist)

exit status: 0 done (status: everything is finished); 1 a shard or a case failed (status, merge); 2 something cannot be
told (status: Slurm does not answer; merge: a node's sentinel is off); 3 bad input, or Slurm refused or does not answer;
4 something is not finished (status) or missing (merge).
USAGE
}

refuse() {
  echo "slurm.sh: $*" >&2
  exit "$exit_bad_input"
}

for argument in "$@"; do
  [[ $argument != -- ]] || break
  if [[ $argument == --help || $argument == -h ]]; then usage && exit; fi
done
command=${1:-}
(($#)) || refuse "what is to be done? plan, submit, status, retry or merge, see --help"
shift

# What sbatch is given has to be there on the nodes: no relative name.
find_program() {
  CONVLADDER_PROGRAM=${CONVLADDER_PROGRAM:-$program_beside}
  if [[ -z $CONVLADDER_PROGRAM ]]; then
    CONVLADDER_PROGRAM="$root/build/release/convladder"
    [[ -x $CONVLADDER_PROGRAM ]] || build_preset release convladder
  fi
  [[ $CONVLADDER_PROGRAM == /* ]] || CONVLADDER_PROGRAM=$PWD/$CONVLADDER_PROGRAM
  [[ -x $CONVLADDER_PROGRAM ]] || refuse "$CONVLADDER_PROGRAM cannot be executed"
  export CONVLADDER_PROGRAM
}

case $command in
  plan)
    find_program
    said=$(mktemp)
    trap 'rm -f "$said"' EXIT
    "$CONVLADDER_PROGRAM" plan "$@" | tee "$said"
    folder=$(sed -n 's:/plan\.json$::p' "$said" | tail -n 1)
    if [[ -f $folder/plan.json ]]; then printf 'next: %q submit %q\n' "$0" "$folder"; fi
    ;;
  submit | retry | status)
    [[ $command == status ]] || find_program
    python=$(command -v python3 || echo /usr/bin/python3)
    # Names of folders are bytes, whatever the locale is.
    export CONVLADDER_SLURM_SH=$0
    export PYTHONPATH="$root/scripts" PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1 PYTHONIOENCODING=utf-8:surrogateescape
    exec "$python" -m convladder_slurm.main "$command" "$@"
    ;;
  merge)
    find_program
    [[ ${1:-} != '' && ${1:-} != -* ]] || refuse "merge: of which plan? Its folder comes first"
    folder=$1 status=0
    said=$(mktemp)
    trap 'rm -f "$said"' EXIT
    { "$CONVLADDER_PROGRAM" merge "$@" 2>&1 >&3 3>&- | tee "$said" >&2; } 3>&1 || status=$?
    # 'retry' takes the names of the nodes that are off from there.
    if [[ -d $folder/slurm ]]; then
      sed -n 's/^convladder: \([^ ]*\) is off: .*/\1/p' "$said" >"$folder/slurm/off" || true
    fi
    if ((status == 2 || status == 4)); then printf 'next: %q retry %q\n' "$0" "$folder"; fi
    exit "$status"
    ;;
  *) refuse "unknown command '$command': plan, submit, status, retry or merge, see --help" ;;
esac

# What the bundle's scripts share; sourced, never run. Sets `here`, the bundle's folder, and `python`, one that has
# matplotlib, or any Python 3, or nothing; makes the program start.
# shellcheck shell=bash disable=SC2034  # the scripts that source this use the variables

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Uses the bundled compiler libraries if the machine's own are missing or too old.
if ! "$here/convladder" --version >/dev/null 2>&1; then
  export LD_LIBRARY_PATH="$here/lib/fallback${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  if ! problem=$("$here/convladder" --version 2>&1); then
    echo "${0##*/}: the program does not start here: ${problem%%$'\n'*}" >&2
    exit 1
  fi
fi

python='' has_matplotlib=false
for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
  if "$candidate" -c 'import matplotlib' >/dev/null 2>&1; then
    python="$candidate" has_matplotlib=true
    break
  fi
  [[ -n $python ]] || ! "$candidate" -c '' >/dev/null 2>&1 || python="$candidate"
done

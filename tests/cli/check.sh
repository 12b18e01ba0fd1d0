# What the tests of the program share: the program in $addp, a folder $work that is deleted at the end, and check().
set -u
addp=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# check NAME EXIT_CODE [--out PATTERN] [--err PATTERN] -- COMMAND...
check() {
  local name=$1 code=$2 out="" err=""
  shift 2
  while [ "$1" != -- ]; do
    case $1 in --out) out=$2 ;; --err) err=$2 ;; esac
    shift 2
  done
  shift
  "$@" >"$work/out" 2>"$work/err"
  local got=$?
  local problem=""
  [ $got -eq "$code" ] || problem="exit code $got instead of $code"
  [ -z "$out" ] || grep -qE -- "$out" "$work/out" || problem="$problem; no '$out' on stdout"
  [ -z "$err" ] || grep -qE -- "$err" "$work/err" || problem="$problem; no '$err' on stderr"
  if [ -n "$problem" ]; then
    echo "FAILED $name: $problem"
    head -5 "$work/out" "$work/err"
    failures=$((failures + 1))
  fi
}

# skip NAME WHAT: a part of a test that this machine cannot run, in the words of tools/skipped.py.
skip() {
  echo "SKIPPED $1: $2"
  [ -z "${ADDP_REPORTS:-}" ] || printf '%s: %s\n' "$1" "$2" >>"$ADDP_REPORTS/$(basename "$0" .sh).skipped"
}

finish() {
  if [ $failures -gt 0 ]; then
    echo "$failures checks failed"
    exit 1
  fi
  echo "all checks passed"
}

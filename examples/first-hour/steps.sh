# Shared by the three scripts: a temporary folder, a line per step, and checks that fail loudly.
set -o pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/first-hour-XXXXXX")
started=() # processes started here
leave() {
  for process in ${started+"${started[@]}"}; do kill "$process" 2>/dev/null && wait "$process" || true; done
  rm -rf "$work"
}
trap leave EXIT
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR
cd "$work"

say() { printf '\n# %s\n' "$*"; }

fail() {
  printf '\nFAILED: %s\n' "$*" >&2
  [ ! -s "$work/seen" ] || { echo 'Output:' && cat "$work/seen"; } >&2
  exit 1
}

# shows PATTERN...: the latest output (`…
# tee "$work/seen"`) matches each pattern.
shows() {
  for pattern in "$@"; do grep -qE -- "$pattern" "$work/seen" || fail "no match in the output: $pattern"; done
}

# refused COMMAND...: the command must fail; its output is stored for `shows`.
refused() {
  if "$@" >"$work/seen" 2>&1; then fail "should have failed: $*"; fi
  cat "$work/seen"
}

# soon COMMAND...: repeats the command until it succeeds, for up to a minute; its output is stored for `shows`.
soon() {
  for _ in $(seq 120); do
    if "$@" >"$work/seen" 2>&1; then cat "$work/seen" && return; fi
    sleep 0.5
  done
  fail "no success within a minute: $*"
}

# What the three scripts share: a folder of their own that is gone at the end, a line for each step, and checks that fail loudly.
set -o pipefail

work=$(mktemp -d "${TMPDIR:-/tmp}/first-hour-XXXXXX")
started=() # processes of ours
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
  [ ! -s "$work/seen" ] || { echo 'It said:' && cat "$work/seen"; } >&2
  exit 1
}

# shows PATTERN...: what was typed last (`… | tee "$work/seen"`) said each of these.
shows() {
  for pattern in "$@"; do grep -qE -- "$pattern" "$work/seen" || fail "nothing that looks like: $pattern"; done
}

# refused COMMAND...: it ends with an error, which is kept for `shows`.
refused() {
  if "$@" >"$work/seen" 2>&1; then fail "was to be refused: $*"; fi
  cat "$work/seen"
}

# soon COMMAND...: what it says is kept for `shows`; typed again, for a minute at most, until it ends well.
soon() {
  for _ in $(seq 120); do
    if "$@" >"$work/seen" 2>&1; then cat "$work/seen" && return; fi
    sleep 0.5
  done
  fail "not after a minute: $*"
}

#!/usr/bin/env bash
# First hour of an administrator: clone, start, keys, backup and restore, doctor, import from another tracker. Needs
# Node 20, npm and curl. TATAMI_REPOSITORY is the repository to clone; default: the one that contains this file.
set -eu
repository=${TATAMI_REPOSITORY:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$(dirname "$0")/steps.sh"
export TATAMI_PORT=0 # any free port: 4700 may be in use

say 'Clone the repository'
if [ -e "$repository/.git" ] && command -v git >/dev/null; then
  git clone -q "$repository" tatami
else
  mkdir tatami
  tar -C "$repository" --exclude ./node_modules --exclude ./data --exclude ./dist -cf - . | tar -C tatami -xf -
fi
cd tatami

say 'npm start installs the dependencies and starts the server'
start() {
  : >"$work/seen"
  "$@" >"$work/seen" 2>"$work/log" &
  server=$!
  started=("$server")
  soon_ready
  cat "$work/seen"
  export TATAMI_SERVER
  TATAMI_SERVER=$(sed -n 's/^listen *//p' "$work/seen")
}
soon_ready() {
  until grep -q '^ready in' "$work/seen"; do
    kill -0 "$server" || { cat "$work/log" >&2 && fail 'the server exited before it was ready'; }
    sleep 0.2
  done
}
stop() {
  kill -TERM "$server"
  wait "$server" || fail "the server exited with $?"
  started=()
  ! curl -s "$TATAMI_SERVER/healthz" || fail 'the server still answers'
}
start npm start
shows '\(new\)' 'content +1 workspace: My workspace; 1 plugin: auto-triage' 'Your API key, shown only once: +ttm_'
export TATAMI_TOKEN
TATAMI_TOKEN=$(sed -n 's/^Your API key, shown only once: *//p' "$work/seen")

say 'Create a first issue; the plugin labels it'
curl -s -w '\n' "$TATAMI_SERVER/api/v1/issues" -H "Authorization: Bearer $TATAMI_TOKEN" \
  -H 'Content-Type: application/json' -d '{"team":"ENG","title":"Crash when saving a file"}' | tee "$work/seen"
shows '"identifier":"ENG-1"'
labelled() {
  curl -s -w '\n' "$TATAMI_SERVER/api/v1/issues?fields=identifier,title,labels" -H "Authorization: Bearer $TATAMI_TOKEN" | grep '"name":"bug"'
}
soon labelled

say 'Restart: the data is still there, and the start block says how to create keys'
stop
start npm start
shows '\(existing\)' 'keys create --data-dir'
curl -s -w '\n' "$TATAMI_SERVER/api/v1/issues/ENG-1" -H "Authorization: Bearer $TATAMI_TOKEN" | tee "$work/seen"
shows 'Crash when saving a file'

say 'Check its health'
bin/tatami health | tee "$work/seen"
shows '"status":"ready"'

say 'Manage keys while the server runs'
me() { curl -s -w '\n' "$TATAMI_SERVER/api/v1/me" -H "Authorization: Bearer $1"; }
key_of() { sed -n 's/^key *\(ttm_[^ ]*\).*/\1/p' "$work/seen"; }
bin/tatami keys list --data-dir data | tee "$work/seen"
shows 'Owner'
bin/tatami keys create --data-dir data --name nightly --scopes issues:read --expires 90d | tee "$work/seen"
shows '^scopes +issues:read' 'shown only once'
old=$(key_of)
me "$old" | tee "$work/seen"
shows '"issues:read"'
bin/tatami keys roll nightly --data-dir data --grace 2h | tee "$work/seen"
new=$(key_of)
for key in "$old" "$new"; do
  me "$key" | tee "$work/seen"
  shows '"issues:read"'
done
id=$(sed -n 's/.*"id":"\(key_[^"]*\)".*/\1/p' "$work/seen")
bin/tatami keys revoke "$id" --data-dir data
me "$new" | tee "$work/seen"
shows '"unauthorized"'

say 'Import issues from another tracker with their original times; a second import adds nothing'
{
  echo 'repo,created_at,label,title,body'
  for n in $(seq 400); do echo "shop,2024-03-01T09:30:00Z,bug,Crash number $n,It fails"; done
} >issues.csv
bin/tatami import issues.csv --team-from repo 2>&1 | tee "$work/seen"
shows '[0-9]+ of 400' '400 created, 0 already present, 0 failed'
bin/tatami import issues.csv --team-from repo 2>&1 | tee "$work/seen"
shows '0 created, 400 already present'
curl -s -w '\n' "$TATAMI_SERVER/api/v1/issues/SHOP-1" -H "Authorization: Bearer $TATAMI_TOKEN" | tee "$work/seen"
shows '"createdAt":"2024-03-01T09:30:00.000Z"'
refused bin/tatami import isues.csv --team-from repo
shows 'isues.csv'

say 'Back up while the server runs'
mkdir "$work/backups"
bin/tatami backup "$work/backups" --data-dir data | tee "$work/seen"
shows '^contains +1 workspace' '^key +not in the backup'
bin/tatami backups verify "$work/backups"
stop

say 'Manage keys offline'
bin/tatami keys create --data-dir data --name 'From the shell' | tee "$work/seen"
shows '^key +ttm_'
bin/tatami keys list --data-dir data | tee "$work/seen"
shows 'From the shell'

say 'Run the doctor'
bin/tatami doctor --data-dir data | tee "$work/seen"
shows '✓ structure' '✓ replay'

say 'Restore into a new directory; nothing is sent until it is released'
bin/tatami restore "$work"/backups/*.backup --data-dir "$work/restored" --key data/master.key | tee "$work/seen"
start bin/tatami serve --data-dir "$work/restored"
curl -s -w '\n' "$TATAMI_SERVER/api/v1/issues/SHOP-400" -H "Authorization: Bearer $TATAMI_TOKEN" | tee "$work/seen"
shows 'Crash number'
curl -s -w '\n' "$TATAMI_SERVER/readyz" | tee "$work/seen"
shows '"held"'
bin/tatami release --data-dir "$work/restored" | tee "$work/seen"
released() { bin/tatami health | grep '"status":"ready"'; }
soon released
stop

say 'First hour of an administrator: all steps passed.'

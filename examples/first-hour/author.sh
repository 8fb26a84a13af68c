#!/usr/bin/env bash
# First hour of a plugin author: a new plugin, its errors, runs, upgrades and schedule. Needs Node 20, npm, curl, and
# `tatami` (bin/tatami of a clone, or the executable) on PATH. TATAMI_SERVER and TATAMI_TOKEN name the server and an
# API key.
set -eu
. "$(dirname "$0")/steps.sh"

say 'Create a plugin'
tatami plugins new acme.hello
cd acme.hello
cat README.md

say 'Type-check and test it, as its README says'
npm install --silent
npm run types
npm test

say 'Pack it and install it'
tatami plugins pack .
tatami plugins install ./acme.hello.tatami.json --yes --no-probation 2>&1 | tee "$work/seen"
shows 'issues:read: to receive new issues' 'Receive issue.created events' '0.1.0 installed as plg_'
file() {
  curl -s -w '\n' "$TATAMI_SERVER/api/v1/issues" -H "Authorization: Bearer $TATAMI_TOKEN" \
    -H 'Content-Type: application/json' -d "{\"team\":\"ENG\",\"title\":\"$1\"}" | tee "$work/issue"
}
# Tests if the latest run matches the pattern.
latest() { tatami plugins logs acme.hello --limit 1 2>&1 | tee "$work/latest" | grep -E -- "$1" >/dev/null && cat "$work/latest"; }
file 'The login page crashes'
soon latest 'succeeded .*effects 1'
shows 'greeted [A-Z]+-[0-9]+'

say 'A syntax error names file and line'
cp plugin.ts good.ts
echo 'const a: number = ;' >>plugin.ts
line=$(wc -l <plugin.ts)
refused tatami plugins pack .
shows "plugin.ts:$line:19: Unexpected ;" "$line \| const a: number = ;"
mv good.ts plugin.ts

say 'The next version labels issues, requests more scopes, and has a bug'
cat >plugin.ts <<'END'
import { definePlugin } from '@tatami/sdk/plugin';

interface Settings {
  greeting: string;
  most: number;
}

const labels: Record<string, { name: string }> = { crash: { name: 'crash' } };

function labelOf(title: string): string {
  const [word = ''] = /crash|slow/i.exec(title) ?? [];
  return labels[word.toLowerCase()]!.name;
}

export default definePlugin<'issues:write' | 'comments:write', Settings>({
  id: 'acme.hello',
  version: '0.2.0',
  engines: { tatami: '*' },
  scopes: {
    'issues:write': { why: 'to label new issues', fields: ['labels'] },
    'comments:write': { why: 'to comment on them' },
  },
  settings: {
    type: 'object',
    properties: {
      greeting: { type: 'string', default: 'Thank you, we will look at this.' },
      most: { type: 'integer', minimum: 1, maximum: 100, default: 100 },
    },
  },
  on: {
    'issue.created': {
      async handle(event, ctx) {
        await ctx.comments.create(event.data.id, { body: ctx.settings.greeting });
        await ctx.issues.update(event.data.id, { addLabels: [labelOf(event.data.title)] });
      },
    },
  },
  schedules: {
    count: {
      cron: '0 6 * * *',
      async handle(_, ctx) {
        const page = await ctx.issues.list({ limit: ctx.settings.most });
        ctx.log.info('counted', page.data.length);
        if (page.pageInfo.hasNextPage) throw new Error('too many');
      },
    },
  },
});
END
npm run types
curl -s -w '\n' "$TATAMI_SERVER/api/v1/labels" -H "Authorization: Bearer $TATAMI_TOKEN" \
  -H 'Content-Type: application/json' -d '{"name":"crash"}'
tatami plugins pack .
tatami plugins install ./acme.hello.tatami.json --yes --no-probation 2>&1 | tee "$work/seen"
shows '0.2.0 replaces 0.1.0' '\+ Read issues, and write only their labels. \(issues:write: to label new issues' '  Read comments'
file 'Crash when saving'
soon latest 'succeeded .*effects 2'
id=$(sed 's/.*"id":"\(iss_[^"]*\)".*/\1/' "$work/issue")
curl -s -w '\n' "$TATAMI_SERVER/api/v1/issues/$id?fields=labels" -H "Authorization: Bearer $TATAMI_TOKEN" | tee "$work/seen"
shows '"name":"crash"'

say 'A run-time error names the line of the source file, and nothing is written'
file 'The list is slow'
soon latest retrying
at=$(grep -n '!.name' plugin.ts | cut -d: -f1)
shows 'TypeError' "at labelOf \(plugin.ts:$at:" 'effects 0 \(1 dropped\)'

say 'A fixed version runs the waiting event at once'
sed -e "s/0.2.0/0.3.0/; s/labels\[word.toLowerCase()\]!.name/labels[word.toLowerCase()]?.name ?? 'crash'/" plugin.ts >next.ts
mv next.ts plugin.ts
npm run types
cp acme.hello.tatami.json old.json
tatami plugins pack .
tatami plugins install ./acme.hello.tatami.json --yes
soon latest 'succeeded .*effects 2'

say 'An older version is rejected without --downgrade'
refused tatami plugins install ./old.json --yes
shows '0.3.0 is installed' '--downgrade'
tatami plugins install ./old.json --yes --downgrade
tatami plugins install ./acme.hello.tatami.json --yes

say 'Simulate: show the changes field by field'
tatami plugins install ./acme.hello.tatami.json --yes --mode simulate
file 'Another crash'
soon latest 'effects 0 \(2 simulated\)'
shows 'would update issue' 'labels: .*crash\]' 'would create comment'
tatami plugins install ./acme.hello.tatami.json --yes --mode apply

say 'An unknown plugin name is an error'
refused tatami plugins logs acme.hallo
shows 'no plugin acme.hallo' 'tatami plugins list'

say 'Run the schedule now'
tatami plugins run-schedule acme.hello count | tee "$work/seen"
shows 'count +succeeded' 'counted [0-9]+'

say 'With another setting the run fails, waits for a retry, and is canceled'
tatami plugins update acme.hello --settings most=1
refused tatami plugins run-schedule acme.hello count
shows 'count +retrying' 'too many' 'at handle \(plugin.ts:[0-9]+' 'tatami runs cancel run_'
run=$(grep -om1 'run_[0-9a-z]*' "$work/seen")
tatami runs cancel "$run" 2>&1 | tee "$work/seen"
shows canceled

say 'First hour of a plugin author: all steps passed.'

// A core in a process of its own, for tests that kill it, hold its database or take its disk away. Prints one JSON line
// when it is ready; with `--create N` it makes N issues through its own socket, one JSON line for each answer, and exits.
import { readConfig } from '../../core/config.ts';
import { createWorkspace, hasWorkspace } from '../../core/identity/workspace/first-workspace.ts';
import { serve } from '../../core/serve.ts';

const flags = Object.fromEntries(
  process.argv.slice(2).map((argument) => {
    const [name = '', value = ''] = argument.replace(/^--/, '').split('=');
    return [name, value];
  }),
);

const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

const tatami = await serve({
  config: readConfig({ dataDir: flags.dir ?? '', port: '0', rateLimit: 'off' }, {}),
  log: () => undefined,
});
const made = (await hasWorkspace(tatami.services.store))
  ? null
  : await createWorkspace(tatami.services, tatami.committer, {
      name: 'Fault',
      teamKey: 'FLT',
      teamName: 'Fault',
      ownerName: 'Owner',
    });
print({ url: tatami.url, apiKey: made?.apiKey ?? null });

// The longest the event loop stood still since the last line, every 100 ms.
if (flags.stalls !== undefined) {
  let last = performance.now();
  let worstMs = 0;
  setInterval(() => {
    const now = performance.now();
    worstMs = Math.max(worstMs, now - last - 5);
    last = now;
  }, 5);
  setInterval(() => {
    print({ stallMs: Math.round(worstMs) });
    worstMs = 0;
  }, 100);
}

for (let n = 0; n < Number(flags.create ?? 0); n++) {
  const key = `${flags.prefix ?? 'k'}-${n}`;
  const response = await fetch(`${tatami.url}/api/v1/issues`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${flags.token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify({ team: 'FLT', title: key }),
  });
  print({ key, status: response.status, issue: await response.json() });
}
if (flags.create !== undefined) process.exit(0);

// `bun run bench [NAME…] [--json] [--quick] [--large]`: costs of Tatami as ratios to baselines measured in the same run. Exits with 1
// if one misses its target. See README.md.
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { automations } from './parts/automations.ts';
import { catalogueCosts } from './parts/catalogue.ts';
import { create } from './parts/create.ts';
import { dashboard } from './parts/dashboard.ts';
import { footprint } from './parts/footprint.ts';
import { get } from './parts/get.ts';
import { growth } from './parts/growth.ts';
import { hostile } from './parts/hostile.ts';
import { identity } from './parts/identity.ts';
import { list } from './parts/list.ts';
import { listFilters } from './parts/list-filters.ts';
import { pluginRuns } from './parts/plugin-runs.ts';
import { recovery } from './parts/recovery.ts';
import { sandbox } from './parts/sandbox.ts';
import { slowDisk } from './parts/slow-disk.ts';
import { transactions } from './parts/transactions.ts';
import { webhooks } from './parts/webhooks.ts';
import { printTable, type Findings } from './report.ts';
import { fullEffort, quickEffort, type Effort } from './rounds.ts';

const parts: Readonly<Record<string, (effort: Effort) => Promise<Findings>>> = {
  get,
  list,
  'list-filters': listFilters,
  create,
  catalogue: catalogueCosts,
  'slow-disk': slowDisk,
  'plugin-runs': pluginRuns,
  automations,
  transactions,
  sandbox,
  webhooks,
  hostile,
  identity,
  footprint,
  recovery,
  growth,
  dashboard,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: process.argv[2] !== 'triage',
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
  },
});

if (positionals[0] === 'triage') {
  const program = fileURLToPath(new URL('triage/main.ts', import.meta.url));
  const { exitCode } = Bun.spawnSync([process.execPath, program, ...process.argv.slice(3)], {
    stdio: ['inherit', 'inherit', 'inherit'],
  });
  process.exit(exitCode);
}

const unknown = positionals.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`Unknown benchmark ${unknown.join(', ')}. Use ${Object.keys(parts).join(', ')} or triage.`);
  process.exit(2);
}
const effort = { ...(values.quick ? quickEffort : fullEffort), isLarge: values.large === true };
const all: Record<string, Findings> = {};
for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
  if (!values.json) console.error(`${name} …`);
  all[name] = await parts[name]!(effort);
}
const load = loadavg()[0]!;
if (values.json) console.log(JSON.stringify({ ...all, loadAverage: load, cores: availableParallelism() }));
else {
  printTable({
    ratios: Object.values(all).flatMap(({ ratios = [] }) => ratios),
    figures: Object.values(all).flatMap(({ figures = [] }) => figures),
  });
  console.log(`\n${availableParallelism()} cores, load average ${load.toFixed(1)} at the end`);
}
const isShort = Object.values(all).some(({ ratios = [] }) => ratios.some(({ ok }) => !ok));
process.exit(isShort ? 1 : 0);

// Checkpoints an open store while writes of its database fail, and prints after each step why the store rejects writes.
// Arguments: data directory, and `damage` to damage a page that is not in the log after the first failure.
import { openStore } from '../../core/platform/store/open-store.ts';
import { systemStatement } from '../../core/platform/store/statement.ts';
import { systemOp } from '../../core/platform/store/store.ts';

const [dir = '', damage] = process.argv.slice(2);
const checkpoints = 5;

const change = systemStatement(
  'full.change',
  'changes many pages, of no workspace',
  `INSERT INTO cursors
   SELECT 'ws_full', printf('%04000d', value), 1 FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]') WHERE true
   ON CONFLICT DO UPDATE SET sequence = sequence + 1`,
);
const rootOf = systemStatement<{ root: number }>(
  'full.root',
  'the schema, of no workspace',
  "SELECT rootpage AS root FROM sqlite_schema WHERE name = 'comments'",
);

// The store compares a part of the file at each tick of this timer, which this program fires.
const ticks: (() => void)[] = [];
Object.assign(globalThis, {
  setInterval(tick: () => void) {
    ticks.push(tick);
    return { unref: () => undefined };
  },
});

const { store, close } = openStore(dir, Date.now);

/** @returns the reason why writes are rejected, after every page of the file was compared */
async function compared(): Promise<string | null> {
  const { pages } = (await store.reclaim(0)) ?? { pages: 1 };
  for (let page = 0; page < pages; page += 64) {
    for (const tick of ticks) tick();
    await store.take('next');
  }
  return store.status().reason;
}

function damageUnlogged(root: number): void {
  const at = String(root * 8192 - 1);
  Bun.spawnSync(['dd', `of=${dir}/tatami.db`, 'bs=1', `seek=${at}`, 'conv=notrunc'], {
    stdin: Buffer.from([1]),
  });
}

const said: (string | null)[] = [];
for (let n = 0; n < checkpoints; n++) {
  await store.commit([systemOp(change, {})]).catch(() => undefined);
  said.push(await compared());
  const [row] = await store.readSystem(rootOf);
  if (damage && n === 0) damageUnlogged(row?.root ?? 0);
}
await close();
console.log(JSON.stringify(said));

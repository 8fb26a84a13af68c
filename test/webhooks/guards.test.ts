// Each guard is taken out of a copy of the sources, and the suite that should notice must go red: a check that cannot fail guards
// nothing. Two in every run; TATAMI_LONG=1 breaks them all.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const long = process.env.TATAMI_LONG !== undefined;
const root = join(import.meta.dir, '../..');

interface Guard {
  readonly name: string;
  readonly file: string;
  readonly guarding: string;
  readonly broken: string;
  /** The smallest suite that should notice. */
  readonly suite: string;
}

const guards: readonly Guard[] = [
  {
    name: 'a signature from the past is too old',
    file: 'sdk/webhooks/verify.ts',
    guarding: '!(ageSeconds <= toleranceSeconds)',
    broken: '!(ageSeconds <= Infinity)',
    suite: 'sdk/webhooks/verify.test.ts',
  },
  {
    name: 'a signature from the future is not believed',
    file: 'sdk/webhooks/verify.ts',
    guarding: '!(ageSeconds >= -toleranceSeconds)',
    broken: '!(ageSeconds >= -Infinity)',
    suite: 'sdk/webhooks/verify.test.ts',
  },
  {
    name: 'every address is checked',
    file: 'core/lib/egress/egress.ts',
    guarding: "if ('refused' in verdict) {",
    broken: "if ('refused' in verdict && target.host === '') {",
    suite: 'test/webhooks/egress.test.ts',
  },
  {
    name: 'plain http only inside the allow-list',
    file: 'core/lib/egress/egress.ts',
    guarding: '!target.secure && !verdict.opened',
    broken: 'target.host === "" && !target.secure && !verdict.opened',
    suite: 'test/webhooks/egress.test.ts',
  },
  {
    name: 'a redirect is a failure',
    file: 'core/webhooks/attempt.ts',
    guarding: 'status >= 200 && status <= 299',
    broken: 'status >= 200 && status <= 399',
    suite: 'test/webhooks/deliveries.test.ts',
  },
  {
    name: 'work is finished only under the lease it was taken by',
    file: 'core/events/work-rows.ts',
    guarding: "'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id AND epoch = :epoch'",
    broken: "'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id AND :epoch = :epoch'",
    suite: 'core/events/work.test.ts',
  },
  {
    name: 'an answer is kept up to its cap',
    file: 'core/lib/egress/answer-reader.ts',
    guarding: 'this.#bytes > this.#expected.bodyBytesMax',
    broken: 'this.#bytes > Infinity',
    suite: 'core/lib/egress',
  },
  {
    name: 'retries end at the horizon',
    file: 'core/webhooks/schedule.ts',
    guarding: "if (nowMs >= finalAtMs) return 'parked';",
    broken: '',
    suite: 'core/webhooks/schedule.test.ts',
  },
  {
    name: 'a secret signs only until it expires',
    file: 'core/webhooks/secret.ts',
    guarding: 'known.filter(({ expiresAt }) => expiresAt > nowMs)',
    broken: 'known',
    suite: 'test/webhooks/rotation.test.ts',
  },
];
/** Whose suites are quickest. */
const fast = new Set([guards[0]!.name, guards[7]!.name]);

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'tatami-guards-'));
  for (const folder of ['core', 'sdk', 'plugins', 'test', 'package.json', 'bunfig.toml', 'tsconfig.json'])
    cpSync(join(root, folder), join(copy, folder), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true }));

async function failures(suite: string): Promise<string[]> {
  const child = Bun.spawn([process.execPath, 'test', '--timeout', '60000', suite], {
    cwd: copy,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, TATAMI_LONG: undefined },
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  return [
    ...new Set([...(out + err).matchAll(/^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/gm)].map(([, name]) => name!)),
  ];
}

for (const { name, file, guarding, broken, suite } of guards.filter(({ name }) => long || fast.has(name)))
  test(`${name}: without that, ${suite} is red`, async () => {
    const path = join(copy, file);
    const source = readFileSync(path, 'utf8');
    expect([name, source.split(guarding).length - 1]).toEqual([name, 1]);
    writeFileSync(path, source.replace(guarding, broken));
    const red = await failures(suite);
    writeFileSync(path, source);
    if (long) console.log(`${name}: ${red.length} red, such as\n  ${red.slice(0, 3).join('\n  ')}`);
    expect([name, red.length > 0]).toEqual([name, true]);
  }, 120_000);

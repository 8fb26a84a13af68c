// One hostile plugin per attack: it is contained and recorded with its reason, three victims keep answering and lose no
// run, a new job works afterwards, and no process remains.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFile, jobOf, openSandbox, pluginOf, runToEnd, sidecarPids, until } from './harness.ts';
import type { TestSandbox } from './harness.ts';
import { startVictims } from './victims.ts';
import type { Victims } from './victims.ts';

type Reason = 'error' | 'cpu' | 'wall' | 'memory' | 'call_budget' | 'startup' | 'rejection' | 'killed';

/** If an attack reaches two limits at the same time, either may stop it. */
const expectedEnds: Record<string, Reason[] | 'clean'> = {
  loop: ['cpu'],
  'loop-after-await': ['cpu'],
  'loop-await-null': ['cpu'],
  'promise-bomb': ['cpu', 'memory'],
  'loop-generator': ['cpu'],
  'loop-finally': ['cpu'],
  'loop-proxy': ['cpu'],
  regex: ['cpu'],
  'regex-sticky': ['cpu'],
  'memory-objects': ['memory', 'cpu'],
  'memory-arrays': ['memory', 'cpu'],
  'memory-strings': ['memory', 'cpu', 'error'],
  'memory-typed-arrays': ['memory', 'cpu', 'error'],
  'memory-map': ['memory', 'cpu', 'error'],
  'to-reversed': ['memory', 'cpu', 'killed'],
  'split-characters': ['memory', 'cpu', 'killed'],
  'resizable-buffer': ['error'],
  'growable-shared-buffer': ['error'],
  'deep-json': ['memory', 'cpu', 'killed', 'error'],
  'replace-all': ['memory', 'cpu', 'killed', 'error'],
  'upper-case': ['memory', 'cpu', 'killed', 'error'],
  'math-max-apply': ['memory', 'cpu', 'killed', 'error'],
  'index-of': ['cpu'],
  join: ['cpu', 'memory', 'error'],
  'bigint-multiply': ['cpu', 'memory'],
  'bigint-power': ['cpu', 'memory', 'error'],
  'bigint-parse': ['cpu', 'memory', 'error'],
  'array-fill': ['memory', 'cpu', 'killed', 'error'],
  'rejection-getters': ['cpu'],
  'return-getters': ['cpu'],
  'throw-getters': ['cpu'],
  'rejection-huge': ['memory', 'rejection', 'cpu', 'killed', 'error'],
  'rejection-late': ['rejection'],
  'calls-million': ['call_budget', 'cpu', 'memory'],
  'calls-endless': ['call_budget'],
  'sleep-endless': ['call_budget', 'cpu', 'wall'],
  'never-settles': ['wall'],
  'argument-huge': ['error', 'memory', 'cpu'],
  'message-huge': ['error', 'memory', 'cpu'],
  'log-flood': ['error'],
  'stack-overflow': ['error'],
  'startup-loop': ['cpu'],
  'startup-memory': ['memory', 'cpu'],
  'startup-throw': ['startup'],
  'startup-undeclared': ['startup'],
  'definition-getters': ['cpu'],
  'thrown-oddities': 'clean',
  'odd-arguments': 'clean',
  'prototype-pollution': 'clean',
  'function-escape': 'clean',
  'stack-introspection': 'clean',
  'absent-globals': 'clean',
  imports: 'clean',
  network: 'clean',
  'proto-keys': 'clean',
  'call-after-end': 'clean',
};

let sandbox: TestSandbox;
let victims: Victims;

test('every attack has its row and its file', () => {
  const files = readdirSync(join(import.meta.dir, 'attacks')).filter((name) => name.endsWith('.js'));
  expect(files.map((name) => name.slice(0, -3)).sort()).toEqual(Object.keys(expectedEnds).sort());
});

/** On the main thread, an attack is repeated on another one; the short form has one attack per way to end it. */
const modes: [where: string, inlineAfter: number, attacks: string[]][] = [
  ['on threads of their own', 1_000_000, Object.keys(expectedEnds)],
  [
    'on the main thread of the sidecar',
    0,
    process.env.TATAMI_LONG
      ? Object.keys(expectedEnds)
      : ['loop', 'index-of', 'memory-arrays', 'rejection-getters', 'calls-endless', 'prototype-pollution'],
  ],
];

describe.each(modes)(
  'each attack is contained while three victims keep answering, %s:',
  (_, inlineAfter, attacks) => {
    beforeAll(async () => {
      sandbox = await openSandbox({ inlineAfter });
      victims = await startVictims(sandbox);
    });

    afterAll(async () => {
      await victims.stop();
      await sandbox.stop();
    });

    test.each(attacks)('%s', async (name) => {
      const expected = expectedEnds[name]!;
      const code = { ...(await bundleFile(`attacks/${name}.js`)), handlers: ['event:issue.created'] };
      const before = victims.succeeded();
      const job = jobOf(`ins_${name}`, code);
      if (name === 'call-after-end') await runToEnd(sandbox, job);
      const outcome = await runToEnd(sandbox, job);

      if (expected === 'clean') {
        expect(outcome).toMatchObject({ status: 'succeeded', logs: [{ message: 'clean' }] });
      } else {
        expect(outcome.status).toBe('failed');
        expect(expected as string[]).toContain(outcome.status === 'failed' ? outcome.reason : '');
      }
      await until('every victim answers', () =>
        victims.succeeded().every((count, index) => count > (before[index] ?? 0)),
      );
      // Removes the failures, so that each is attributed to its own attack and not to later ones.
      expect(victims.wronged.splice(0)).toEqual([]);

      const fresh = await runToEnd(
        sandbox,
        jobOf('ins_bystander', await pluginOf('await ctx.issues.get(1);')),
      );
      expect(fresh).toMatchObject({ status: 'succeeded', calls: 1 });
      await until('no process is left over', () => {
        const known = sandbox.status().sidecars.map(({ pid }) => pid);
        return sidecarPids().every((pid) => known.includes(pid));
      });
    });

    test('stopping leaves no process', async () => {
      await victims.stop();
      await sandbox.stop();
      expect(sidecarPids()).toEqual([]);
    });
  },
);

// Every operation of the API has a command, and no name in the commands is taken twice.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Command } from 'commander';
import { addOperations } from '../../../core/app/cli/operations/commands.ts';
import { lowerFirst } from '../../../core/app/cli/operations/table/help.ts';
import type { Operation } from '../../../core/app/cli/operations/table/operation.ts';
import { handwritten, presets, verbAliases } from '../../../core/app/cli/operations/table/shortcuts.ts';
import { listNouns, operationsOf, verbsOf } from '../../../core/app/cli/operations/table/table.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../tatami.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const nouns = listNouns().map(({ name }) => name);
const operations = nouns.flatMap((noun) => operationsOf(noun));

/** Other commands that perform an operation. */
const byAnother: Readonly<Record<string, string>> = { 'health.live': 'health', 'health.ready': 'health' };

/** Words of the command, such as `issues triage accept`. */
const wordsOf = (operation: Operation): string[] => [operation.id.split('.')[0]!, ...verbsOf(operation)];

/** Returns the subcommands that the shell offers after these words, with their descriptions. */
const offered = (() => {
  const known = new Map<string, Promise<ReadonlyMap<string, string>>>();
  const ask = async (words: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const { code, out } = await tatami(['__complete', ...words, '']);
    expect(code).toBe(0);
    const lines = out.split('\n').filter((line) => line !== '');
    return new Map(lines.map((line) => line.split('\t') as [string, string]));
  };
  return (words: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const key = words.join(' ');
    if (!known.has(key)) known.set(key, ask(words));
    return known.get(key)!;
  };
})();

async function exists(words: readonly string[]): Promise<boolean> {
  return (await offered(words.slice(0, -1))).has(words.at(-1)!);
}

test('every operation of the served OpenAPI document has a command', async () => {
  const { json } = await app.clientOf(null)('GET', '/api/v1/openapi.json');
  const served = Object.values<Json>(json.paths)
    .flatMap((item) => Object.values<Json>(item))
    .flatMap(({ operationId }) => operationId ?? []);
  expect(served.length).toBeGreaterThan(150);
  const missing: string[] = [];
  for (const id of served) {
    const operation = operations.find((one) => one.id === id);
    const other = byAnother[id] ?? handwritten[id];
    const words = other?.split(' ') ?? (operation ? wordsOf(operation) : null);
    if (words === null || !(await exists(words))) missing.push(id);
  }
  expect(missing).toEqual([]);
});

test('a command written by hand replaces a derived one only where the list says so', async () => {
  const replaced: string[] = [];
  for (const operation of operations) {
    const words = wordsOf(operation);
    const text = (await offered(words.slice(0, -1))).get(words.at(-1)!);
    const isDerived = text === lowerFirst(operation.summary);
    if (isDerived === (handwritten[operation.id] !== undefined)) replaced.push(operation.id);
  }
  expect(replaced).toEqual([]);
});

test('each preset, alias and list entry belongs to an operation', () => {
  const ids = new Set(operations.map(({ id }) => id));
  const named = [
    ...Object.keys(handwritten),
    ...Object.keys(verbAliases),
    ...presets.map((one) => one.operation),
  ];
  expect(named.filter((id) => !ids.has(id))).toEqual([]);
});

/** Options that commands share. */
const common = new Set(
  [
    'json',
    'fields',
    'all',
    'limit',
    'yes',
    'dry-run',
    'editor',
    'server',
    'token',
    'idempotency-key',
    'if-version',
  ].concat(['help', 'out', 'wait']),
);
/** Option of the commands that write a file. */
const ofFiles = 'force';

test('no flag has the name of a common one, and each flag of a command is unique', () => {
  const wrong = operations.flatMap(({ id, flags, answer }) => {
    const names = flags.map(({ name }) => name);
    return names
      .filter((name, index) => {
        const isCommon = common.has(name.replace(/^no-/, '')) || (answer === 'file' && name === ofFiles);
        return isCommon || names.indexOf(name) !== index;
      })
      .map((name) => `${id} --${name}`);
  });
  expect(wrong).toEqual([]);
});

test('each name and alias of a command, and each of its options, is its own', () => {
  const program = new Command('tatami');
  addOperations(program, nouns, '/');
  const taken: string[] = [];
  const check = (command: Command, path: string): void => {
    const names = command.commands.flatMap((one) => [one.name(), ...one.aliases()]);
    const options = command.options.flatMap(({ long, short }) => [long, short]).filter((one) => one);
    for (const list of [names, options])
      taken.push(...list.filter((one, index) => list.indexOf(one) !== index).map((one) => `${path} ${one}`));
    for (const one of command.commands) check(one, `${path} ${one.name()}`);
  };
  check(program, 'tatami');
  expect(taken).toEqual([]);
});

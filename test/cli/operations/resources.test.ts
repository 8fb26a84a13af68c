// Drives every operation through its command and compares each result with REST. The tests derive from the examples of contracts
// and routes, so a new plain resource needs no line here.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { dirname } from 'node:path';
import { exampleOf } from '../../../core/app/cli/operations/table/help.ts';
import type { Operation } from '../../../core/app/cli/operations/table/operation.ts';
import { handwritten, presets } from '../../../core/app/cli/operations/table/shortcuts.ts';
import { operationOf, operationsOf } from '../../../core/app/cli/operations/table/table.ts';
import { contracts } from '../../../core/features/contracts.ts';
import type { Contract } from '../../../core/kernel/contract/contract.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import {
  exampleOf as exampleBodyOf,
  fillPath,
  nameOfId,
  referredBy,
  seed,
  type Seeds,
} from '../../api/seeds.ts';
import type { Route } from '../../../core/kernel/http/route.ts';
import { quoted } from '../../../core/platform/lib/text/printable.ts';
import { launcher } from '../../program.ts';
import { createProgram } from '../../../core/app/cli/tatami.ts';
import { ended, resultOf, type CliResult } from '../tatami.ts';

let app: TestApp;
let seeds: Seeds;
/** Status that the receiver of webhooks answers. */
let status = 200;
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(null, { status }),
});

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  seeds = await seed(app, app.call, 'ENG', `http://127.0.0.1:${receiver.port}/`);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

/** Runs a command line as a person types it. @param input standard input */
function typed(line: string, input?: string): Promise<CliResult> {
  return input === undefined ? runHere(line) : spawned(line, input);
}

function spawned(line: string, input = ''): Promise<CliResult> {
  return ended(
    Bun.spawn(['sh', '-c', line], {
      env: {
        PATH: `${dirname(launcher)}:${process.env.PATH}`,
        HOME: process.env.HOME ?? '',
        XDG_CONFIG_HOME: '/nonexistent',
        TATAMI_SERVER: app.url,
        TATAMI_TOKEN: app.workspace.apiKey,
      },
      stdin: new Blob([input]),
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  );
}

/**
 * Splits a command line in a shell and runs it in this process, because some hundred starts would take most of the time.
 * @throws if the command fails
 */
async function runHere(line: string): Promise<CliResult> {
  const { stdout } = Bun.spawnSync(['sh', '-c', `printf '%s\\0' ${line}`]);
  const [, ...words] = stdout.toString().split('\0').slice(0, -1);
  const args = [...words, '--server', app.url, '--token', app.workspace.apiKey];
  const [out, err] = [captured(process.stdout), captured(process.stderr)];
  try {
    await createProgram(args, import.meta.dir).program.parseAsync(args, { from: 'user' });
  } finally {
    out.end();
    err.end();
  }
  return resultOf(0, out.text(), err.text());
}

function captured(stream: NodeJS.WriteStream) {
  const { write } = stream;
  let text = '';
  stream.write = ((chunk: string | Uint8Array) => {
    text += Buffer.from(chunk as Uint8Array).toString();
    return true;
  }) as typeof write;
  return { text: () => text, end: () => void (stream.write = write) };
}

/** Note of commands that succeed: that a list is longer. */
const quiet = /^(More items exist\..*\n)?$/;

/** Runs the command line that the help shows for an operation, with these values. @param args values of the arguments */
async function done(id: string, args: readonly string[], body: object = {}): Promise<Json> {
  const shown = exampleOf({ ...operationOf(id), args: [], example: { ...body } });
  const line = [shown, ...args.map(quoted), '--json'].join(' ');
  const result = await typed(line);
  expect([line, result.code, result.err]).toEqual([line, 0, expect.stringMatching(quiet)]);
  return result.json;
}

/** Values that must be unique in the workspace, or differ in these tests, by path. */
const special: Readonly<Record<string, () => object>> = {
  teams: () => ({ key: 'CLI' }),
  members: () => ({ email: 'cleo@acme.example' }),
  fields: () => ({ key: 'cli' }),
  releases: () => ({ tag: 'cli' }),
  cycles: () => ({ startsAt: '2032-03-03T00:00:00Z', endsAt: '2032-03-17T00:00:00Z' }),
  relations: () => ({ issueId: 'ENG-2' }),
  favorites: () => ({ targetId: 'ENG-2' }),
  webhooks: () => ({ url: `${receiver.url.href}command` }),
};

const operationsAt = ({ path }: Contract): ReadonlyMap<string, Operation> =>
  new Map(operationsOf(path).map((operation) => [operation.id.slice(path.length + 1), operation]));

/** Resources that can be created with the example of the operation. */
const creatable = contracts.filter((contract) => operationsAt(contract).get('create')?.example);

/** The example, with the seeded objects in place of those it refers to. */
function bodyOf(contract: Contract): Json {
  const { path, fields } = contract;
  const example = operationsAt(contract).get('create')!.example as Json;
  const seeded = Object.entries<Json>(example).map(([key, value]) => {
    const entity = typeof value === 'string' ? nameOfId(value) : undefined;
    return [key, entity === undefined ? value : seeds[entity]];
  });
  return {
    ...Object.fromEntries(seeded),
    ...referredBy({ fields }, seeds),
    // The seeds have the names of the examples.
    ...(typeof example.name === 'string' ? { name: `${example.name} of the command` } : {}),
    ...special[path]?.(),
  };
}

/** Returns a name of an object that its commands accept instead of the id. */
function nameFor(operation: Operation | undefined, object: Json): string {
  const [property = 'id'] = operation?.args[0]?.lookup?.by.filter((name) => object[name] != null) ?? [];
  return String(object[property]);
}

const rest = async (path: string): Promise<Json> => (await app.call('GET', `/api/v1${path}`)).json;

const plain = new Set(
  creatable.flatMap(({ path }) =>
    ['create', 'list', 'get', 'update', 'delete', 'restore'].map((name) => `${path}.${name}`),
  ),
);

/** Further operations, which have a derived command. */
const others = (kind: Route['kind']): [Route, Operation][] =>
  app.app.routes
    .filter((route) => route.kind === kind && !plain.has(route.name) && handwritten[route.name] === undefined)
    .flatMap((route) => {
      const operation = operationsOf(route.name.split('.')[0]!).find(({ id }) => id === route.name);
      return operation ? [[route, operation] as [Route, Operation]] : [];
    });

/** Returns the values of the arguments, from the seeds, and the path for REST. */
function placeOf(route: Route, { args }: Operation): { args: string[]; path: string } {
  const filled = fillPath(route.path, route.params, seeds);
  const values = new Map<string, string>();
  for (const [at, part] of route.path.split('/').entries()) {
    const [, key] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (key !== undefined) values.set(key, filled.split('/')[at]!);
  }
  const inQuery = args.filter(({ key }) => !values.has(key)).map(({ key }) => [key, 'secret']);
  return {
    args: args.map(({ key }) => values.get(key) ?? 'secret'),
    path: inQuery.length === 0 ? filled : `${filled}?${new URLSearchParams(inQuery)}`,
  };
}

/** Returns a response without values that differ between any two. */
const lasting = (json: unknown): string =>
  JSON.stringify(json)
    .replaceAll(/\b[a-z]{3,4}_[0-9a-hjkmnp-tv-z]{26}\b/g, '<id>')
    .replaceAll(/"(key|prefix|secret|url|token)":"[^"]{10,}"/g, '"$1":"<new>"');

/** Operations whose responses count the requests before them. */
const counting = new Set(['usage.get', 'plugins.usage']);

/** Performs an operation over REST and by its command, and compares. @returns false if the example is refused in this workspace */
async function agrees(route: Route, operation: Operation, isTried: boolean): Promise<boolean> {
  const { args, path } = placeOf(route, operation);
  const body = exampleBodyOf(route, receiver.url.href) as Json;
  const reply = await app.call(route.method, path, body, isTried ? { 'tatami-mode': 'simulate' } : {});
  if (reply.status >= 300) return false;
  // The test gives the input.
  const shown = exampleOf({ ...operation, args: [], example: body ?? {} }).replace(/ < .*/, '');
  const line = [shown, ...args.map(quoted), ...(isTried ? ['--dry-run'] : []), '--json'].join(' ');
  const secret = operation.flags.find(({ isSecret }) => isSecret);
  const { code, json, err } = await typed(line, secret ? body[secret.key] : undefined);
  expect([line, code, err]).toEqual([line, 0, expect.any(String)]);
  const { answer, id } = operation;
  const wanted =
    answer === 'object' ? reply.json : answer === 'nothing' ? json : reply.json.data.slice(0, 50);
  if (counting.has(id)) expect(Object.keys(json)).toEqual(Object.keys(wanted));
  else expect([line, lasting(json)]).toEqual([line, lasting(wanted)]);
  return true;
}

test('a command with a fixed body sends it', async () => {
  for (const { operation, verb, body } of presets.toReversed()) {
    const { path, id } = operationOf(operation);
    const line = `tatami ${id.split('.')[0]} ${verb} ${seeds.plugin} --json`;
    const { code, err } = await typed(line);
    expect([line, code, err]).toEqual([line, 0, expect.any(String)]);
    expect(await rest(path.replace('{id}', seeds.plugin!))).toMatchObject(body);
  }
});

test('a command that starts a delivery, a replay or a run shows its end', async () => {
  const { webhook, plugin, delivery } = seeds as Record<string, string>;
  expect(await done('webhooks.ping', [webhook!])).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(await done('deliveries.replay', [delivery!])).toMatchObject({
    status: 'delivered',
    origin: 'replay',
  });
  const replay = await done('webhooks.replay', [receiver.url.href], { afterSequence: 0 });
  expect(replay).toMatchObject({ status: 'done' });
  const run = await done('plugins.run-schedule', [plugin!, 'nightly']);
  expect(run).toMatchObject({ status: 'succeeded' });
  expect(await rest(`/runs/${run.id}`)).toMatchObject({ status: 'succeeded' });
  status = 500;
  const failed = await spawned(`tatami webhooks ping ${webhook} --json`);
  status = 200;
  expect([failed.code, failed.json.status]).toEqual([1, 'retrying']);
  expect(failed.err).toContain('the server retries automatically');
});

test('every other read shows the response of REST', async () => {
  const read = others('read');
  const succeeded = [];
  for (const [route, operation] of read)
    if (await agrees(route, operation, false)) succeeded.push(route.name);
  expect(succeeded.length).toBeGreaterThan(read.length * 0.9);
});

test('every other write sends the body of its example, as a dry run', async () => {
  const since = await app.lastSequence();
  const written = others('write');
  const succeeded = [];
  for (const [route, operation] of written)
    if (await agrees(route, operation, true)) succeeded.push(route.name);
  // Operations such as the rollback of a release need more than their example.
  expect(succeeded.length).toBeGreaterThan(written.length * 0.6);
  expect(await app.eventTypes(since)).toEqual([]);
});

test.each(creatable.map((contract) => [contract.path, contract] as const))(
  '%s are created, listed, shown, changed, deleted and restored as over REST',
  async (path, contract) => {
    const known = operationsAt(contract);
    const { parent, examples } = contract;
    const above = known.get('create')!.args.length > 0;
    const parentId = parent ? seeds[parent.name]! : seeds.comment!;
    const created = await done(`${path}.create`, above ? [parentId] : [], bodyOf(contract));
    const one = `/${path}/${created.id}`;
    // A backtest ends in the background.
    await app.settled();
    const stored = known.has('get') ? await rest(one) : created;
    // The response of a creation alone has the secret, and may leave out unset fields.
    const shown = Object.entries(created).filter(([name]) => name in stored && name !== 'backtest');
    expect(stored).toMatchObject(Object.fromEntries(shown));
    if (known.has('get'))
      expect(await done(`${path}.get`, [nameFor(known.get('get'), created)])).toEqual(stored);
    const list = known.get('list');
    if (list?.answer === 'page') {
      const all = await rest(`${list.path.replace('{id}', parentId)}?limit=100`);
      expect(await done(`${path}.list`, above ? [parentId] : [])).toEqual(all.data.slice(0, 50));
      expect(all.data).toContainEqual(stored);
    }
    const update = known.get('update');
    if (update && examples?.update) {
      const updated = await done(`${path}.update`, [nameFor(update, created)], examples.update);
      const isChange = Object.entries(examples.update).some(([name, value]) => stored[name] !== value);
      expect(updated).toMatchObject({ id: created.id, version: stored.version + (isChange ? 1 : 0) });
      if (known.has('get')) expect(updated).toEqual(await rest(one));
    }
    if (!known.has('delete')) return;
    expect(await done(`${path}.delete`, [created.id])).toEqual({
      done: true,
      operation: `${path}.delete`,
      id: created.id,
    });
    // Revoked keys stay visible.
    if (known.has('get') && path !== 'api-keys')
      expect((await app.call('GET', `/api/v1${one}`)).status).toBe(404);
    if (!contract.operations.restore) return;
    const restored = await done(`${path}.restore`, [created.id]);
    expect(restored).toEqual(await rest(one));
  },
);

// Drives every resource through its commands and compares each result with REST. The tests derive from the examples of the
// contracts, so a new plain resource needs no line here.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { dirname } from 'node:path';
import { exampleOf } from '../../../core/app/cli/operations/help.ts';
import type { Operation } from '../../../core/app/cli/operations/operation.ts';
import { operationOf, operationsOf } from '../../../core/app/cli/operations/table.ts';
import { contracts } from '../../../core/features/contracts.ts';
import type { Contract } from '../../../core/kernel/contract/contract.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { nameOfId, referredBy, seed, type Seeds } from '../../api/seeds.ts';
import { quoted } from '../../../core/platform/lib/text/printable.ts';
import { launcher } from '../../program.ts';
import { ended, type CliResult } from '../tatami.ts';

let app: TestApp;
let seeds: Seeds;
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  seeds = await seed(app, app.call, 'ENG', `http://127.0.0.1:${receiver.port}/`);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

/** Runs a command line in a shell, as a person who copies it from the help. */
function typed(line: string): Promise<CliResult> {
  return ended(
    Bun.spawn(['sh', '-c', line], {
      env: {
        PATH: `${dirname(launcher)}:${process.env.PATH}`,
        HOME: process.env.HOME ?? '',
        XDG_CONFIG_HOME: '/nonexistent',
        TATAMI_SERVER: app.url,
        TATAMI_TOKEN: app.workspace.apiKey,
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  );
}

/** Output of each command whose server is in the environment. */
const note = (): string => `Using the server ${app.url}, from TATAMI_SERVER.\n`;

/** Runs the command line that the help shows for an operation, with these values. @param args values of the arguments */
async function done(id: string, args: readonly string[], body: object = {}): Promise<Json> {
  const shown = exampleOf({ ...operationOf(id), args: [], example: { ...body } });
  const line = [shown, ...args.map(quoted), '--json'].join(' ');
  const result = await typed(line);
  expect([line, result.code, result.err]).toEqual([line, 0, note()]);
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

test.each(creatable.map((contract) => [contract.path, contract] as const))(
  '%s are created, listed, shown, changed, deleted and restored as over REST',
  async (path, contract) => {
    const known = operationsAt(contract);
    const { parent, examples } = contract;
    const above = known.get('create')!.args.length > 0;
    const parentId = parent ? seeds[parent.name]! : seeds.comment!;
    const created = await done(`${path}.create`, above ? [parentId] : [], bodyOf(contract));
    const one = `/${path}/${created.id}`;
    const stored = known.has('get') ? await rest(one) : created;
    // The response of a creation alone has the secret, and may leave out unset fields.
    const shown = Object.entries(created).filter(([name]) => name in stored);
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
    if (!known.has('restore')) return;
    const restored = await done(`${path}.restore`, [created.id]);
    expect(restored).toEqual(await rest(one));
  },
);

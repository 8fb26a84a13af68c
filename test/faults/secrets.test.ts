// docs/spec/durability.md › Secrets at rest: values that are shown once are stored nowhere in plain text, in any
// encoding, on the disk, in a copy of the database, in the log or in a response.
import { expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { createSealing } from '../../core/platform/lib/secrets/sealing.ts';
import { createSecretOpener, sealSecret } from '../../core/features/webhooks/endpoints/secrets.ts';
import { startHooks, startReceiver } from '../features/webhooks/receiver.ts';
import { filesUnder, findSecrets } from './searched.ts';

test('keys, signing secrets old and new, the query of an address and the master key are stored nowhere in plain text', async () => {
  const receiver = startReceiver();
  const hooks = await startHooks();
  const { app, call } = hooks;
  const secrets = new Map<string, string>([['first key', app.workspace.apiKey]]);
  const once = async (name: string, path: string, body: object, field: string): Promise<string> => {
    const key = { 'idempotency-key': `once ${name}` };
    const { json } = await call('POST', path, body, key);
    const again = await call('POST', path, body, key);
    expect([name, again.headers.get('idempotent-replayed'), again.json]).toEqual([name, 'true', json]);
    secrets.set(name, json[field]);
    return json.id;
  };
  await once('minted key', '/api/v1/api-keys', { name: 'k', scopes: ['issues:read'] }, 'key');
  const url = `${receiver.url}?token=secret_in_the_address`;
  const id = await once('signing secret', '/api/v1/webhooks', { url, events: ['*'] }, 'secret');
  await call('PATCH', `/api/v1/webhooks/${id}`, { url: `${receiver.url}?token=other_secret_in_the_address` });
  await call('PATCH', `/api/v1/webhooks/${id}`, { url });
  secrets.set('token', 'secret_in_the_address');
  await once('rotated secret', `/api/v1/webhooks/${id}/rotate`, {}, 'secret');
  await once('secret rotated again', `/api/v1/webhooks/${id}/rotate`, { overlapHours: 168 }, 'secret');
  await hooks.file('One');
  await call('POST', `/api/v1/webhooks/${id}/ping`);
  await call('POST', `/api/v1/webhooks/${id}/samples`, { type: 'webhook.created' });
  await app.settled();
  expect(receiver.received.length).toBe(8);
  expect(new Set(secrets.values()).size).toBe(6);

  const answers = await Promise.all(
    ['webhooks', 'deliveries', 'events?limit=100', 'audit-log', 'api-keys', 'openapi.json', 'inbox'].map(
      async (path) => (await call('GET', `/api/v1/${path}`)).text,
    ),
  );
  for (const { id: delivery } of (await call('GET', '/api/v1/deliveries')).json.data)
    answers.push((await call('GET', `/api/v1/deliveries/${delivery}`)).text);
  const database = filesUnder(app.dataDir).find((path) => path.endsWith('.db'))!;
  const copy = join(app.dataDir, 'copy.db');
  const reader = new Database(database, { readonly: true });
  reader.exec(`VACUUM INTO '${copy.replaceAll("'", "''")}'`);
  const packed = reader.prepare('SELECT packed FROM events WHERE packed IS NOT NULL').all() as {
    packed: ArrayBuffer;
  }[];
  reader.close();
  expect(packed.length).toBeGreaterThan(3);
  const files = filesUnder(app.dataDir);
  const keyFile = files.find((path) => path.endsWith('master.key'))!;
  const masterKey = readFileSync(keyFile);
  const contents = new Map<string, Buffer>([
    ['the log', Buffer.from(JSON.stringify(app.logs))],
    ['the packed events', Buffer.concat(packed.map((event) => Bun.zstdDecompressSync(event.packed)))],
    ['the answers', Buffer.from(answers.join('\n'))],
    [
      'the deliveries',
      Buffer.from(JSON.stringify(receiver.received.map(({ body, headers }) => [body, [...headers]]))),
    ],
    ...files.filter((path) => path !== keyFile).map((path) => [path, readFileSync(path)] as const),
  ]);
  expect([...contents.keys()].filter((path) => /(\.db|-wal)$/.test(path)).length).toBeGreaterThan(2);
  const matches = [...findSecrets(contents, secrets)];
  for (const [path, bytes] of contents) {
    const hex = masterKey.toString('latin1').trim();
    for (const needle of [
      masterKey,
      Buffer.from(hex),
      Buffer.from(masterKey.toString('hex')),
      Buffer.from(masterKey.toString('base64')),
    ])
      if (bytes.includes(needle)) matches.push(`the master key in ${path}`);
  }
  expect(matches).toEqual([]);
  expect(statSync(keyFile).mode & 0o077).toBe(0);
  await app.stop();
  await receiver.stop();
}, 60_000);

test('a sealed secret opens only for its own endpoint and workspace, under its own master key, unaltered', () => {
  const sealing = createSealing(Buffer.alloc(32, 1));
  const sealed = sealSecret(sealing, 'workspace', 'whe_1', 'whsec_c2VjcmV0');
  const open = (from = sealing, workspaceId = 'workspace', id = 'whe_1', bytes = sealed): string[] =>
    createSecretOpener(from)(workspaceId, { id, secretSealed: bytes, previousSecrets: [] }, 0);
  expect(open()).toEqual(['whsec_c2VjcmV0']);
  expect(() => open(sealing, 'other')).toThrow();
  expect(() => open(sealing, 'workspace', 'whe_2')).toThrow();
  expect(() => open(createSealing(Buffer.alloc(32, 2)))).toThrow();
  const altered = Uint8Array.from(sealed);
  altered[altered.length - 1]! ^= 1;
  expect(() => open(sealing, 'workspace', 'whe_1', altered)).toThrow();
});

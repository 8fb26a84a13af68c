// A plugin uses secrets without reading them: they are inserted into the declared header for the declared host, and
// removed from the response.
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rotateMasterKey } from '../../../core/app/setup/rotate-master-key.ts';
import { startApp } from '../../app.ts';
import { codesOf, flags, outsideOfFile, secret, type FetchArguments } from './outside.ts';
import { install, packSource } from './pack.ts';

const encoded = [Buffer.from(secret).toString('base64'), encodeURIComponent(secret), JSON.stringify(secret)];
const outside = outsideOfFile();
const { origin, other, seen } = outside;

describe('a secret', () => {
  const path = (): string => `/api/v1/plugins/${outside.plugin.id}/secrets`;
  const withSecret = (): FetchArguments => [`${origin}/v1/x`, { headers: { authorization: '$REF' } }];

  test('is set by an administrator and never returned, and its change is logged without the value', async () => {
    await outside.app.settled();
    const before = await outside.app.lastSequence();
    const set = await outside.app.call('PUT', `${path()}/ACME_KEY`, { value: secret });
    expect([set.status, set.json.name, typeof set.json.setAt]).toEqual([200, 'ACME_KEY', 'string']);
    await outside.app.settled();
    expect(await outside.app.eventTypes(before)).toEqual(['plugin.updated']);
    const texts = [
      set.text,
      (await outside.app.call('GET', path())).text,
      (await outside.app.call('GET', `${path()}/ACME_KEY`)).text,
      (await outside.app.call('GET', `/api/v1/plugins/${outside.plugin.id}`)).text,
      (await outside.app.call('GET', `/api/v1/events?after=${before}`)).text,
    ];
    for (const text of texts) expect(text).not.toContain('sk_live');
    const reader = outside.app.clientOf(await outside.app.mintKey(['plugins:read']));
    expect((await reader('PUT', `${path()}/ACME_KEY`, { value: secret })).status).toBe(403);
    expect((await outside.app.call('PUT', `${path()}/OTHER`, { value: secret })).status).toBe(404);
    for (const value of ['short', `${secret}\r\nx: y`, ' padded with spaces '])
      expect((await outside.app.call('PUT', `${path()}/ACME_KEY`, { value })).status).toBe(422);
  });

  test('is sent in the declared header to the declared host, and removed from the response', async () => {
    const before = seen.length;
    const [whole, bare] = await outside.ask([
      withSecret(),
      [`${origin}/v1/x`, { headers: { Authorization: 'Bearer $REF' } }],
    ]);
    expect(seen.slice(before).map(({ headers }) => headers.get('authorization'))).toEqual(
      Array(2).fill(`Bearer ${secret}`),
    );
    for (const answer of [whole, bare]) {
      const text = JSON.stringify(answer);
      expect(answer.status).toBe(200);
      expect(text).toContain('[secret ACME_KEY]');
      for (const form of [secret, ...encoded, 'sk_live', 'sk%5Flive', '7$&=secret'])
        expect(text).not.toContain(form);
    }
  });

  test('is not sent anywhere else', async () => {
    const before = seen.length;
    const hostile: FetchArguments[] = [
      [`${origin}/v1/$REF`],
      [`${origin}/v1/?key=$REF`],
      [`${origin}/v1/`, { method: 'POST', body: 'key=$REF' }],
      [`${origin}/v1/`, { headers: { 'x-key': '$REF' } }],
      [`${origin}/v1/`, { headers: { $REF: 'a' } }],
      [`${origin}/v1/`, { headers: { authorization: 'Basic $REF' } }],
      [`${origin}/v1/`, { headers: { authorization: '$REF$REF' } }],
      ['https://rebind.example/', { headers: { authorization: '$REF' } }],
      [`${other}/v1/`, { headers: { authorization: '$REF' } }],
    ];
    expect(codesOf(await outside.ask(hostile))).toEqual(hostile.map(() => 'egress_denied'));
    expect(seen.length).toBe(before);
  });

  test('is never stored in plain text: not in the database with its journal, runs, comments and values, nor in the log', async () => {
    await outside.file([withSecret()], { fails: 1 });
    await outside.app.settled();
    expect((await outside.latestRun()).error.message).toContain('[secret ACME_KEY]');
    const names = readdirSync(outside.app.dataDir, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    const needles = [secret, ...encoded, Buffer.from(secret).toString('base64').slice(0, -4), 'sk_live'];
    for (const { parentPath, name } of names) {
      const bytes = readFileSync(join(parentPath, name));
      for (const needle of needles) expect([name, bytes.includes(needle)]).toEqual([name, false]);
    }
    expect(JSON.stringify(outside.app.logs)).not.toContain('sk_live');
  });

  test('is decrypted with a new master key, and no longer with the old one', async () => {
    const { clock, dataDir, workspace } = outside.app;
    await outside.app.stop();
    expect((await rotateMasterKey(dataDir, clock.nowMs)).resealed).toBe(1);
    outside.app = await startApp({ clock, dataDir, flags, resolve: outside.resolve }, workspace);
    const before = seen.length;
    await outside.ask([withSecret()]);
    expect(seen[before]!.headers.get('authorization')).toBe(`Bearer ${secret}`);
  });

  test('is removed by its deletion, which the plugin can detect', async () => {
    expect((await outside.app.call('DELETE', `${path()}/ACME_KEY`)).status).toBe(204);
    expect((await outside.app.call('DELETE', `${path()}/ACME_KEY`)).status).toBe(404);
    const before = seen.length;
    expect((await outside.ask([withSecret()]))[0].status).toBe(200);
    expect(seen[before]!.headers.get('authorization')).toBe('unset');
  });

  test('is not sent to additional hosts of a new version', async () => {
    await outside.app.call('PUT', `${path()}/ACME_KEY`, { value: secret });
    const document = await packSource(outside.definition);
    document.manifest.net = [...(document.manifest.net ?? []), { origin: other, why: 'test' }];
    document.manifest.version = '1.1.0';
    expect((await install(outside.app.call, document)).secrets[0].setAt).not.toBeNull();
    document.manifest.secrets = { ACME_KEY: { hosts: [origin, other], header: 'Authorization' } };
    document.manifest.version = '1.2.0';
    expect((await install(outside.app.call, document)).secrets[0].setAt).toBeNull();
  });
});

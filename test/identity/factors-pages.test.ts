// Passkeys, one-time codes and an outside provider in a real browser, with an authenticator of its own, with and without scripts.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp } from '../app.ts';
import { runInNode } from '../browser/run.ts';
import { startOutsideProvider } from './outside-provider.ts';

interface Seen {
  seen: string[];
  violations: string[];
  ledTo: string[];
  offered: boolean;
  refused: string;
  unscripted: string;
  complaints: string[];
}

test('a person signs in with a passkey, a code and an outside account; axe finds nothing, and no page complains', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tatami-providers-'));
  const north = await startOutsideProvider();
  const identityProviders = join(folder, 'providers.json');
  const listed = { key: 'north', name: 'North', issuer: north.issuer, clientId: 'tatami' };
  writeFileSync(join(folder, 'secret'), 'secret of north');
  writeFileSync(identityProviders, JSON.stringify([{ ...listed, clientSecretFile: 'secret' }]));
  const flags = { host: 'localhost', egressAllow: '127.0.0.0/8', identityProviders };
  const app = await startApp({ clock: createSystemClock(), flags });
  try {
    const redirectUri = `${app.url}/sign-in/with/north/return`;
    north.register({ id: 'tatami', secret: 'secret of north', redirectUri });
    const now = String(app.clock.now());
    const walk = await runInNode<Seen>('factors-process.ts', [app.workspace.setUpUrl, app.url, now]);
    expect(walk.violations).toEqual([]);
    for (const title of ['Sign in', 'One more step', 'One-time codes', 'Recovery codes', 'Is it you?'])
      expect(walk.seen).toContain(title);
    expect(walk.ledTo).toEqual([
      ...['/account?done=passkey-added', '/account', '/account?done=linked', '/account'],
      ...['/sign-in/code', '/account'],
    ]);
    expect(walk.refused).toContain('sign in another way');
    expect([walk.offered, walk.unscripted]).toEqual([false, 'One more step']);
    // The browser names pages that say what is wrong, which have a status of 4xx.
    const others = walk.complaints.filter(
      (text) => !/the server responded with a status of 4\d\d/.test(text),
    );
    expect(others).toEqual([]);
  } finally {
    await app.stop();
    await north.stop();
    rmSync(folder, { recursive: true });
  }
}, 120_000);

import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp } from '../../app.ts';
import { runInNode } from '../../browser/run.ts';
import { startOutsideProvider } from './outside-provider.ts';

interface FactorsFindings {
  seen: string[];
  violations: string[];
  ledTo: string[];
  offered: boolean;
  refused: string;
  inEarlierTab: string;
  copied: string;
  unproven: string;
  unscripted: string;
  complaints: string[];
}

test('a person signs in with a passkey, a code and an outside account, without axe violations or console errors', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tatami-providers-'));
  const [north, south] = await Promise.all([startOutsideProvider(), startOutsideProvider()]);
  const identityProviders = join(folder, 'providers.json');
  writeFileSync(join(folder, 'secret'), 'secret of north');
  const client = { clientId: 'tatami', clientSecretFile: 'secret' };
  const list = [
    { ...client, key: 'north', name: 'North', issuer: north.issuer },
    { ...client, key: 'south', name: 'South', issuer: south.issuer, takesInvitations: true },
  ];
  writeFileSync(identityProviders, JSON.stringify(list));
  const flags = { host: 'localhost', egressAllow: '127.0.0.0/8', identityProviders };
  const app = await startApp({ clock: createSystemClock(), flags });
  try {
    for (const [key, provider] of Object.entries({ north, south }))
      provider.register({
        ...{ id: 'tatami', secret: 'secret of north' },
        redirectUri: `${app.url}/sign-in/with/${key}/return`,
      });
    south.person = { sub: 'ana', email: 'ana@acme.example', email_verified: true };
    const now = String(app.clock.now());
    const walk = await runInNode<FactorsFindings>('factors-process.ts', [
      app.workspace.setUpUrl,
      app.url,
      now,
    ]);
    expect(walk.violations).toEqual([]);
    for (const title of [
      'Sign in',
      'Enter your code',
      'One-time codes',
      'Recovery codes',
      'Confirm it’s you',
    ])
      expect(walk.seen).toContain(`${title} · Tatami`);
    expect(walk.ledTo).toEqual([
      ...['/account?done=passkey-added', '/', '/account?done=linked', '/'],
      ...['/sign-in/code', '/'],
      ...['/account?done=passkey-added', '/', '/', '/account?done=linked'],
    ]);
    expect(walk.refused).toContain('sign in another way');
    expect(walk.inEarlierTab).toContain('You are no longer signed in');
    expect(walk.copied).toContain('could not be verified');
    expect(walk.unproven).toContain('has no such passkey registered');
    expect([walk.offered, walk.unscripted]).toEqual([false, 'Enter your code · Tatami']);
    // The browser also logs the error pages of the test, which have a 4xx status.
    const others = walk.complaints.filter(
      (text) => !/the server responded with a status of 4\d\d/.test(text),
    );
    expect(others).toEqual([]);
  } finally {
    await app.stop();
    await Promise.all([north.stop(), south.stop()]);
    rmSync(folder, { recursive: true });
  }
}, 120_000);

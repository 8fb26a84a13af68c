import { expect, test } from 'bun:test';
import { createSystemClock, startApp } from '../../app.ts';
import { runInNode } from '../../browser/run.ts';

interface PeopleFindings {
  seen: string[];
  violations: string[];
  ended: string;
  unscripted: string;
  complaints: string[];
}

test('a person joins, signs out and in, and ends a session, without axe violations or console errors', async () => {
  const app = await startApp({ clock: createSystemClock() });
  try {
    const { json: ben } = await app.call('POST', '/api/v1/members', { name: 'Ben' });
    const { json } = await app.call('POST', `/api/v1/members/${ben.id}/invitation`);
    const walk = await runInNode<PeopleFindings>('people-process.ts', [
      app.workspace.setUpUrl,
      json.url,
      app.url,
    ]);
    expect(walk.seen).toContain('Join Acme · Tatami');
    expect(walk.seen).toContain('Confirm it’s you · Tatami');
    // The web app says so of an issue that does not exist.
    expect(walk.seen).toContain('Page not found · Tatami');
    expect(walk.violations).toEqual([]);
    expect(walk.ended).toBe('Sign in · Tatami');
    expect(walk.unscripted).toBe('Your account · Tatami');
    // The browser also logs the error pages of the test, which have a 4xx status.
    expect(
      walk.complaints.filter((text) => !/the server responded with a status of 4\d\d/.test(text)),
    ).toEqual([]);
  } finally {
    await app.stop();
  }
}, 120_000);

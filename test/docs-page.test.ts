import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp } from './app.ts';
import { runInNode } from './browser/run.ts';

interface DocsPageReport {
  complaints: string[];
  requests: { url: string; status: number }[];
  answer: string;
}

test('a new user enters a key, sends the first request and sees the response, without browser errors or external requests', async () => {
  const app = await startApp({ clock: createSystemClock() });
  const folder = mkdtempSync(join(tmpdir(), 'tatami-browser-'));
  try {
    await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Crash on save', priority: 'high' });
    const screenshot = join(folder, 'docs.png');
    const { complaints, requests, answer } = await runInNode<DocsPageReport>('docs-page-process.ts', [
      app.url,
      app.workspace.apiKey,
      screenshot,
    ]);
    expect(complaints).toEqual([]);
    expect(requests.filter(({ url, status }) => !url.startsWith(`${app.url}/`) || status >= 400)).toEqual([]);
    expect(answer).toContain('Crash on save');
    // An empty page of that size takes some 5 KB.
    expect(statSync(screenshot).size).toBeGreaterThan(20_000);
  } finally {
    rmSync(folder, { recursive: true });
    await app.stop();
  }
}, 120_000);

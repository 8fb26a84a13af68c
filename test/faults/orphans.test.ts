// docs/spec/durability.md › Crash safety, the lock: a killed core leaves nothing behind that blocks its successor,
// although its plugin processes may outlive it for a moment.
import { expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock, startApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { handedOver } from './own-copy.ts';
import { clientOf, startServer } from './server.ts';

/**
 * The plugin processes below a process, from /proc; without the programs that confine them, which end soon or only
 * wait.
 */
function sidecarsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  const sidecars = new Set<number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)))
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      if (/^[^\0]*node\0--jitless/.test(readFileSync(`/proc/${name}/cmdline`, 'utf8')))
        sidecars.add(Number(name));
    } catch {
      // The process has ended meanwhile.
    }
  const below = (parent: number): number[] =>
    [...parents].filter(([, of]) => of === parent).flatMap(([child]) => [child, ...below(child)]);
  return below(pid).filter((childPid) => sidecars.has(childPid));
}

const openFiles = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });

test.skipIf(process.platform !== 'linux')(
  'no plugin process holds a file of the data directory, and a killed core can be restarted at once (needs /proc)',
  async () => {
    const sourceDir = mkdtempSync(join(tmpdir(), 'tatami-orphan-'));
    const app = await startApp({ dataDir: sourceDir, clock: createSystemClock() });
    await install(
      app.call,
      await packSource(`{
        id: 'com.test.busy', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
        on: { 'issue.created': { handle: async () => { for (;;) ; } } },
      }`),
    );
    await app.stop();
    const dir = handedOver(sourceDir);
    const { url, child } = await startServer(dir);
    const call = clientOf(url, app.workspace.apiKey);
    expect((await call('POST', '/api/v1/issues', { team: 'ENG', title: 'spin' })).status).toBe(201);
    let sidecars: number[] = [];
    while (sidecars.length === 0) {
      sidecars = sidecarsOf(child.pid);
      await Bun.sleep(20);
    }
    for (const pid of sidecars) expect(openFiles(pid).filter((path) => path.startsWith(dir))).toEqual([]);

    // The worst case: the plugin processes are frozen and cannot notice the end of their core.
    for (const pid of sidecars) process.kill(pid, 'SIGSTOP');
    child.kill('SIGKILL');
    await child.exited;
    const again = await startServer(dir);
    expect((await clientOf(again.url, app.workspace.apiKey)('GET', '/api/v1/issues')).status).toBe(200);
    again.child.kill('SIGTERM');
    await again.child.exited;
    for (const pid of sidecars)
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has ended with its core.
      }
    rmSync(dir, { recursive: true, force: true });
  },
  60_000,
);

// A hostile folder, with files outside it to attack and a server that records stolen keys.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A valid plugin with the id `hostile`. */
export const plugin = `
import { definePlugin } from '@tatami/sdk/plugin';
export default definePlugin({
  id: 'hostile', version: '1.0.0', engines: { tatami: '*' },
  scopes: { 'issues:read': { why: 'test' } }, on: { 'issue.created': { async handle() {} } },
});`;

export interface HostileFolder {
  readonly folder: string;
  /** Parent of `folder`. */
  readonly outside: string;
  readonly thief: Bun.Server<undefined>;
  /** Requests that the hostile server received, as `GET /path authorization`. */
  readonly stolen: string[];
  /** Files by name. */
  fill(files: Record<string, string>): void;
  /** Module that leaves a trace when it runs. */
  evil(): string;
  /** Number of runs of such modules. */
  ran(): number;
  empty(): void;
  remove(): Promise<void>;
}

export function createHostileFolder(): HostileFolder {
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'tatami-hostile-')));
  const folder = join(outside, 'folder');
  const trace = join(outside, 'ran');
  const stolen: string[] = [];
  const thief = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      stolen.push(`${request.method} ${request.url} ${request.headers.get('authorization') ?? ''}`);
      return new Response('{}', { status: 404 });
    },
  });
  return {
    folder,
    outside,
    thief,
    stolen,
    fill(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
    },
    evil: () =>
      `require('node:fs').appendFileSync(${JSON.stringify(trace)}, 'x'); export const run = () => 1; export default 1;`,
    ran: () => (existsSync(trace) ? readFileSync(trace, 'utf8').length : 0),
    empty() {
      rmSync(folder, { recursive: true, force: true });
      rmSync(trace, { force: true });
      stolen.length = 0;
    },
    async remove() {
      await thief.stop(true);
      rmSync(outside, { recursive: true, force: true });
    },
  };
}

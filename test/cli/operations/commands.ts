// A server for the tests of derived commands, with a workspace that has one of most objects.
import { afterAll, beforeAll, expect } from 'bun:test';
import { createSystemClock, startApp, type Json, type TestApp } from '../../app.ts';
import { tatami, temporary, type CliResult } from '../tatami.ts';

export interface Commands {
  app(): TestApp;
  /** Folder that is removed at the end. */
  readonly dir: ReturnType<typeof temporary>;
  rest(path: string): Promise<Json>;
  post(path: string, body: object): Promise<Json>;
  run(args: readonly string[], input?: string): Promise<CliResult>;
  /** Runs a command that succeeds. @returns its output as JSON */
  done(args: readonly string[], input?: string): Promise<Json>;
  /** Runs a command that changes nothing. */
  unchanged(args: readonly string[], input?: string): Promise<CliResult>;
  newIssue(title: string, more?: object): Promise<Json>;
}

/** Starts the server before the tests of a file and stops it after them. */
export function useCommands(): Commands {
  let app: TestApp;
  const dir = temporary();
  const post = async (path: string, body: object): Promise<Json> => {
    const { status, json } = await app.call('POST', `/api/v1${path}`, body);
    expect([path, status]).toEqual([path, 201]);
    return json;
  };
  const run = (args: readonly string[], input?: string): Promise<CliResult> =>
    tatami(args, { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey }, input);
  const commands: Commands = {
    app: () => app,
    dir,
    post,
    run,
    rest: async (path) => (await app.call('GET', `/api/v1${path}`)).json,
    async done(args, input) {
      const result = await run([...args, '--json'], input);
      expect([args.join(' '), result.code, result.err]).toEqual([args.join(' '), 0, expect.any(String)]);
      return result.json;
    },
    async unchanged(args, input) {
      const since = await app.lastSequence();
      const result = await run([...args, '--json'], input);
      expect([args.join(' '), await app.eventTypes(since)]).toEqual([args.join(' '), []]);
      return result;
    },
    newIssue: (title, more = {}) => post('/issues', { team: 'ENG', title, ...more }),
  };
  beforeAll(async () => {
    // Relative times of the commands count from the system time.
    app = await startApp({ clock: createSystemClock() });
    await seed(commands);
  });
  afterAll(async () => {
    await app.stop();
    dir[Symbol.dispose]();
  });
  return commands;
}

async function seed({ post, newIssue }: Commands): Promise<void> {
  await post('/members', { name: 'Ana', email: 'ana@acme.example' });
  for (const name of ['ui', 'ui, design']) await post('/labels', { name });
  const project = await post('/projects', { name: 'Spring release' });
  await post(`/projects/${project.id}/milestones`, { name: 'Beta' });
  await post('/fields', { key: 'severity', name: 'Severity', type: 'text' });
  await newIssue('Make the editor faster');
}

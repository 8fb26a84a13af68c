// Output of representative commands, for people and with --json, as in `golden/`. UPDATE_GOLDEN=1 rewrites the files.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quoted } from '../../../core/platform/lib/text/printable.ts';
import { version } from '../../../core/app/version.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../tatami.ts';

const golden = join(import.meta.dir, 'golden');
let app: TestApp;
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('thanks') });

const post = async (path: string, body: object): Promise<Json> =>
  (await app.call('POST', `/api/v1${path}`, body)).json;

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  await post('/webhooks', { url: receiver.url.href, events: ['issue.created'] });
  const member = await post('/members', { name: 'Ana Lindqvist', email: 'ana@acme.example' });
  const project = await post('/projects', { name: 'Spring release', targetDate: '2027-03-01' });
  await post('/labels', { name: 'regression', color: '#b60205', team: 'ENG' });
  await post('/issues', {
    team: 'ENG',
    title: 'Saving a long comment fails',
    description: 'Above **60 KiB** the button does nothing.\n\nSeen in 1.4.',
    priority: 'urgent',
    assigneeId: member.id,
    labels: ['bug', 'feature', 'question', 'regression'],
    projectId: project.id,
    estimate: 2.5,
    dueDate: '2027-01-31',
  });
  await post('/issues', { team: 'ENG', title: 'Type faster — 더 빠르게', priority: 'low' });
  await app.settled();
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const ids = /\b(?:[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g;

/** Replaces values that differ between runs by others of the same width, so that tables stay aligned. */
function createNormalize(): (text: string) => string {
  const known = new Map<string, string>();
  const nameOf = (id: string): string => {
    if (!known.has(id))
      known.set(id, `${id.slice(0, 4)}${String(known.size + 1).padStart(id.length - 4, '0')}`);
    return known.get(id)!;
  };
  return (text) =>
    text
      .replaceAll(app.url, 'http://127.0.0.1:47000')
      .replaceAll(receiver.url.origin, 'http://127.0.0.1:48000')
      .replaceAll(ids, nameOf)
      .replaceAll(/v1,[\w+/]{43}=/g, 'v1,SIGNATURE')
      .replaceAll(/v1=[0-9a-f]{64}/g, 'v1=SIGNATURE')
      .replaceAll(/(?<=< date: ).*/g, 'DATE')
      .replaceAll(/\b\d+ ms\b/g, '5 ms')
      .replaceAll(version, 'VERSION')
      .replaceAll(/"latencyMs":[\d.]+/g, '"latencyMs":5');
}

async function transcript(commands: readonly (readonly string[])[]): Promise<string> {
  const normalize = createNormalize();
  let text = '';
  for (const args of commands) {
    const env = { TATAMI_TOKEN: app.workspace.apiKey, TZ: 'UTC' };
    const isHelp = args.includes('--help');
    const { code, out, err } = await tatami([...args, ...(isHelp ? [] : ['--server', app.url])], env);
    const errors = err.replaceAll(/^(?=.)/gm, 'stderr: ');
    text += normalize(`$ tatami ${args.map(quoted).join(' ')}\n${out}${errors}exit ${code}\n\n`);
  }
  return text;
}

async function check(name: string, commands: readonly (readonly string[])[]): Promise<void> {
  const file = join(golden, `${name}.txt`);
  const text = await transcript(commands);
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, 'utf8'));
}

test('lists are tables, or one JSON array', () =>
  check('lists', [
    ['issues', 'list'],
    ['issues', 'list', '--fields', 'identifier,state.name,labels.name'],
    ['issues', 'list', '--limit', '1'],
    ['labels', 'list'],
    ['members', 'list'],
    ['labels', 'list', '--limit', '1', '--json'],
    ['cycles', 'list'],
    ['cycles', 'list', '--json'],
  ]));

test('a delivery shows its attempt and both messages', async () => {
  const { data } = (await app.call('GET', '/api/v1/deliveries?limit=100')).json;
  const { id } = data.at(-1);
  await check('deliveries', [
    ['deliveries', 'list', '--webhook', receiver.url.href],
    ['deliveries', 'show', id],
  ]);
});

test('errors name the flag and the remedy', () =>
  check('errors', [
    ['issues', 'create', '--team', 'ENG'],
    ['issues', 'create', '--team', 'ENG', '--title', 'x', '--priority', 'hgih'],
    ['issues', 'update', 'ENG-1', '--state', 'Tood', '--due-date', 'tomorrow', '--json'],
    ['issues', 'update', 'ENG-1', '--state', 'Tood', '--assignee', 'Anna'],
    ['issues', 'show', 'ENG-99'],
    ['labels', 'show', 'regresion', '--json'],
    ['issues', 'delete', 'ENG-1'],
  ]));

test('help lists the flags with their values and an example', () =>
  check('help', [
    ['issues', 'update', '--help'],
    ['labels', '--help'],
  ]));

// Last, because these commands change issues and labels.
test('objects are lines of fields, or one JSON object', () =>
  check('objects', [
    ['issues', 'show', 'ENG-1'],
    ['issues', 'show', 'ENG-2', '--json'],
    ['issues', 'create', '--team', 'ENG', '--title', 'Crash on save'],
    ['issues', 'update', 'ENG-3', '--priority', 'high', '--labels', 'bug'],
    ['issues', 'update', 'ENG-3', '--title', 'Tried', '--dry-run', '--fields', 'identifier,title'],
    ['issues', 'delete', 'ENG-3', '--yes'],
    ['issues', 'restore', 'ENG-3', '--fields', 'identifier,deletedAt'],
    ['labels', 'delete', 'regression', '--yes', '--json'],
  ]));

// Attacks of groups 20, 28, 39 and 40 that need another caller, a second plugin, or a replay.
import { ApiCallError } from '../client/index.ts';
import { packageAround, writing, type Scene } from './case.ts';
import {
  eventsBy,
  gotThrough,
  blocked,
  judgeRuns,
  notJudged,
  unlessTouched,
  type AttackVerdict,
} from './judge.ts';
import { isOver, type AttackRun, type Runs, type Stage } from './stage.ts';

/** Does what the plugin may do and the caller may not: at once, and later through a schedule. */
const borrowing = `
const attempt = async (id, ctx) => {
  const found = ctx.has('issues:write') || ctx.has('comments:write') ? ['has'] : [];
  const asked = {
    update: () => ctx.issues.update(id, { priority: 'urgent' }),
    comment: () => ctx.comments.create(id, { body: 'x' }),
    comments: () => ctx.comments.list(id),
    create: () => ctx.issues.create({ team: TEAM, title: 'made' }),
  };
  for (const name in asked) await asked[name]().then(() => found.push(name), () => {});
  ctx.log.info(found.length === 0 ? 'clean' : 'found ' + found.join(', '));
};
const actions = { borrow: { target: 'issue', handle: async ({ target }, ctx) => {
  await attempt(target.id, ctx);
  await ctx.schedule.once('later', ctx.now(), target.id);
} } };
const schedules = { later: { handle: (event, ctx) => attempt(event.data, ctx) } };
export default { scopes: SCOPES, actions, schedules };`;

async function borrowRights(stage: Stage): Promise<AttackVerdict> {
  const title = 'tatami.attack-borrowed-rights';
  const code = borrowing
    .replace('TEAM', JSON.stringify(stage.team))
    .replace('SCOPES', JSON.stringify(Object.keys(writing)));
  const plugin = await stage.install(
    packageAround(code, {
      id: title,
      name: 'attack: borrowed-rights',
      scopes: writing,
      actions: { borrow: { target: 'issue' } },
      schedules: { later: {} },
      handlers: ['action:borrow', 'schedule:later'],
    }),
  );
  const issue = await stage.createIssue(title);
  const reader = await stage.mintKey(['issues:read']);
  await reader('POST', `/plugins/${plugin}/actions/borrow`, { target: issue.id });
  const runs = await stage.runs([plugin], (now) => now.length >= 2 && now.every(isOver));
  const found = judgeRuns({ ends: 'harmless', runs: 2 }, runs);
  return unlessTouched(stage, plugin, [issue], found);
}

/** Two plugins revert each other's changes. */
async function pingPong(stage: Stage): Promise<AttackVerdict> {
  const title = 'tatami.attack-ping-pong';
  const names = ['ping', 'pong'].map((name) => `attack: ${name}`);
  const plugins: string[] = [];
  for (const [at, name] of names.entries()) {
    const code = `const handler = { handle: ({ data }, ctx) => ctx.issues.update(data.id, { estimate: ${at + 1} }) };
export default { scopes: ['issues:write'], on: { 'issue.created': handler, 'issue.updated': handler } };`;
    const heard = { filter: { title } };
    const manifest = {
      id: `tatami.attack-${name.slice(8)}`,
      name,
      scopes: { 'issues:write': writing['issues:write']! },
      on: { 'issue.created': heard, 'issue.updated': heard },
      handlers: ['event:issue.created', 'event:issue.updated'],
    };
    plugins.push(await stage.install(packageAround(code, manifest)));
  }
  await stage.createIssue(title);
  const cutIn = (runs: Runs) => runs.find(({ error }) => error?.code.startsWith('loop_'))?.error;
  const runs = await stage.runs(plugins, (now) => now.length >= 50 || cutIn(now) !== undefined);
  const cut = cutIn(runs);
  if (!cut) return gotThrough(`the loop was not cut in ${runs.length} runs`);
  return names.every((name) => cut.message.includes(name))
    ? blocked(`${cut.code}: ${cut.message}`)
    : gotThrough(`the error does not name both plugins: ${cut.message}`);
}

const acting = (body: string): string =>
  `export default { scopes: ${JSON.stringify(Object.keys(writing))}, actions: { act: { target: 'issue', handle: async ({ target }, ctx) => { ${body} } } } };`;

/** Installs a plugin, calls its action, and returns the run. */
async function act(stage: Stage, name: string, body: string) {
  const title = `tatami.attack-${name}`;
  const document = packageAround(acting(body), {
    id: title,
    name: `attack: ${name}`,
    scopes: writing,
    actions: { act: { target: 'issue', limits: { cpuMs: 200 } } },
    handlers: ['action:act'],
  });
  const plugin = await stage.install(document);
  const issue = await stage.createIssue(title);
  await stage.call('POST', `/plugins/${plugin}/actions/act`, { target: issue.id });
  const [run] = await stage.runs([plugin], (now) => now.length > 0 && now.every(isOver));
  return { plugin, issue, run };
}

interface Replayed {
  readonly result: string;
  readonly cpuMs: number;
}

/** A replay takes at most three seconds, and is repeated up to three times if the sandbox process ends. */
const replayMs = 30_000;

/** @returns the replay, or a verdict if there is none */
async function replay({ call }: Stage, { id }: AttackRun, body: object): Promise<Replayed | AttackVerdict> {
  const signal = AbortSignal.timeout(replayMs);
  try {
    return await call<Replayed>('POST', `/runs/${id}/replay`, body, { signal });
  } catch (error) {
    if (signal.aborted) return gotThrough(`the replay did not end within ${replayMs / 1000} s`);
    if (!(error instanceof ApiCallError)) throw error;
    if (error.status === 404) return blocked('no recording to replay');
    if (error.status === 503) return notJudged(error.message);
    throw error;
  }
}

async function replayLoop(stage: Stage): Promise<AttackVerdict> {
  const { run } = await act(stage, 'a-loop-replayed', `await ctx.issues.get(target.id); for (;;);`);
  if (run?.error?.code !== 'cpu') return notJudged('the run was not stopped at its CPU limit');
  const replayed = await replay(stage, run, {});
  if ('verdict' in replayed) return replayed;
  const why = `${Math.round(replayed.cpuMs)} ms of CPU time, ${Math.round(run.cpuMs ?? 0)} ms in the original run`;
  return replayed.cpuMs <= 2 * (run.cpuMs ?? 0) ? blocked(why) : gotThrough(why);
}

/** Replays the recorded code, and code with more writes than were recorded. */
async function replayWrites(stage: Stage): Promise<AttackVerdict> {
  const writes = `await ctx.issues.update(target.id, { estimate: (target.estimate ?? 0) + 1 });
    await ctx.comments.create(target.id, { body: 'x' });
    await ctx.kv.increment('written');
    ctx.log.info('clean');`;
  const { plugin, issue, run } = await act(stage, 'writes-replayed', writes);
  const found = judgeRuns({ ends: 'harmless' }, run ? [run] : []);
  if (!run || found.verdict !== 'held') return found;
  const more = acting(`${writes} for (;;) await ctx.issues.update(target.id, { priority: 'urgent' });`);
  const other = packageAround(more, {
    id: 'tatami.attack-writes-replayed',
    scopes: writing,
    handlers: ['action:act'],
    actions: { act: { target: 'issue' } },
  });
  const before = await eventsBy(stage, plugin, issue.id);
  for (const body of [{}, { package: other }]) {
    const replayed = await replay(stage, run, body);
    if ('verdict' in replayed) return replayed;
  }
  const { value } = await stage.call<{ value: number }>('GET', `/plugins/${plugin}/kv/written`);
  const after = await eventsBy(stage, plugin, issue.id);
  const isHeld = value === 1 && after === before;
  return isHeld ? blocked('the replay wrote nothing') : gotThrough('the replay repeated the writes');
}

export const callersAndReplays: readonly Scene[] = [
  { group: 20, name: 'a-loop-replayed', play: replayLoop },
  { group: 28, name: 'writes-replayed', play: replayWrites },
  { group: 39, name: 'borrowed-rights', play: borrowRights },
  { group: 40, name: 'ping-pong', play: pingPong },
];

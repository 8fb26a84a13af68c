// Exact counts of what one create, patch, comment, delivery and plugin run cause, background work included. Prints them as JSON.
import { join } from 'node:path';
import { createClock, startApp, type TestApp, type TestClock } from '../../test/app.ts';
import { touch } from '../plugins.ts';
import { instrument, type Counts, type Instruments } from './instruments.ts';

export type Operation = 'create' | 'patch' | 'comment' | 'delivery' | 'createAndRun';

/** Time for which the clock runs after an operation, so that all delayed work of the operation is done. */
const drainMs = 2_000;
/** Timers of this delay and above never run, so that housekeeping is not counted. */
const ignoredDelayMs = 10_000;

interface Measured {
  readonly app: TestApp;
  readonly clock: TestClock;
  readonly counting: Instruments;
}

/** Works off everything that is due, in the same order on every machine. @param isDone condition that precedes every timer */
async function drain({ clock, counting }: Measured, isDone = (): boolean => true): Promise<void> {
  const works = async (): Promise<void> => {
    do await counting.quiet();
    while (counting.releaseBatches());
  };
  for (await works(); !isDone(); await works()) clock.advance(1);
  for (const endMs = clock.now() + drainMs; clock.now() < endMs; await works())
    clock.advanceToNext(endMs - clock.now());
}

/** Repeats an operation once without counting, because the first one prepares statements and fills caches. */
async function count(
  measured: Measured,
  act: (round: number) => Promise<unknown>,
  isDone: (counting: Instruments) => boolean = () => true,
): Promise<Counts> {
  const { counting } = measured;
  for (const round of [0, 1]) {
    counting.begin();
    await act(round);
    await drain(measured, () => isDone(counting));
  }
  return counting.counts();
}

function withoutHousekeeping(clock: TestClock): TestClock {
  const { after } = clock;
  clock.after = (delayMs, run) => (delayMs < ignoredDelayMs ? after(delayMs, run) : () => undefined);
  return clock;
}

async function countAll(): Promise<Record<Operation, Counts>> {
  const watching = instrument();
  const clock = withoutHousekeeping(createClock());
  const app = await startApp({ clock, flags: { egressAllow: '127.0.0.0/8' } });
  const counting = watching.watch(app.services.store, join(app.dataDir, 'tatami.db'));
  const measured: Measured = { app, clock, counting };
  let received = 0;
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      received++;
      return new Response('ok');
    },
  });
  const send = async (method: string, path: string, body: object): Promise<{ id: string }> => {
    const { status, json, text } = await app.call(method, `/api/v1${path}`, body);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return json as { id: string };
  };
  const create = (round: number) =>
    send('POST', '/issues', { team: 'ENG', title: `The save dialog crashes, ${round}` });
  const comment = (round: number) =>
    send('POST', `/issues/${issue.id}/comments`, { body: `Seen, ${round}.` });
  const issue = await create(2);
  await drain(measured);
  try {
    const counts = {
      create: await count(measured, create),
      patch: await count(measured, (round) =>
        send('PATCH', `/issues/${issue.id}`, { priority: round === 0 ? 'low' : 'high' }),
      ),
      comment: await count(measured, comment),
    };
    const url = `http://127.0.0.1:${receiver.port}/`;
    const webhook = await send('POST', '/webhooks', { url, events: ['comment.added'] });
    await drain(measured);
    let sent = 0;
    const delivery = await count(
      measured,
      (round) => {
        sent++;
        return comment(round);
      },
      () => received === sent,
    );
    await send('PATCH', `/webhooks/${webhook.id}`, { enabled: false });
    const document = await touch();
    await send('POST', '/plugins', { package: document, grant: ['issues:write'], probation: false });
    await drain(measured);
    const createAndRun = await count(measured, create, (done) => done.events('issue.updated') === 1);
    return { ...counts, delivery, createAndRun };
  } finally {
    counting.end();
    await app.stop();
    await receiver.stop(true);
  }
}

console.log(JSON.stringify(await countAll()));
process.exit(0);

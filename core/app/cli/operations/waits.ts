// Waits for the end of what an operation starts: runs, deliveries, replays of events.
import type { Call } from '../../../../sdk/client/call.ts';
import { printable } from '../../../platform/lib/text/printable.ts';
import { CommandError, exitCodes, say } from '../lib/output.ts';
import { poll } from '../lib/poll.ts';
import { hasEnded, isDone, isOpen, progressText, waitingText, type Run } from './views/runs.ts';

interface State {
  readonly id: string;
  readonly status: string;
}

interface Wait {
  /** @param args values of the arguments of the operation @returns the last state */
  until(call: Call, begun: State, args: Readonly<Record<string, string>>): Promise<unknown>;
  /** Returns true for a state that makes the command exit with 1. */
  failed(state: unknown): boolean;
}

const encoded = encodeURIComponent;

const runEnd: Wait = {
  async until(call, begun) {
    const ended = async (id: string): Promise<Run> => {
      const look = (): Promise<Run> => call<Run>('GET', `/runs/${id}`);
      return untilEnded(await look(), look, hasEnded);
    };
    let run = await ended(begun.id);
    const logs = [...run.logs];
    // A schedule may continue over several runs.
    while (run.continuedBy !== null) {
      say(printable(progressText(run)));
      run = await ended(run.continuedBy);
      logs.push(...run.logs);
    }
    // The server's retries go on for hours; that this attempt failed is the answer.
    if (run.status === 'retrying')
      say(
        `The attempt failed; the server retries it automatically. Cancel with \`tatami runs cancel ${run.id}\`.`,
      );
    return { ...run, logs };
  },
  failed: (run) => !isDone(run as Run),
};

/** Returns the end of a run that its caller may read without the scope of runs. @param failed what to do after a failure */
const calledEnd = (failed: string): Wait => ({
  async until(call, begun) {
    const { pluginId, handler } = begun as Run;
    const path = `/plugins/${pluginId}/actions/${encoded(handler)}/runs/${begun.id}`;
    const look = (): Promise<Run> => call<Run>('GET', path);
    const run = await untilEnded(await look(), look, (one) => !isOpen(one));
    if (!isDone(run)) say(failed);
    return run;
  },
  failed: (run) => !isDone(run as Run),
});

function untilEnded(first: Run, look: () => Promise<Run>, ended: (run: Run) => boolean): Promise<Run> {
  return poll(first, look, ended, Number.POSITIVE_INFINITY, (run) => say(printable(waitingText(run))));
}

/** Connecting, the answer and a queue before it: past that, something holds the delivery back. */
const attemptWithinMs = 60_000;

interface Delivery extends State {
  readonly attemptList: readonly unknown[];
  readonly nextAttemptAt: string | null;
}

/** The first attempt. */
const deliveryAttempt: Wait = {
  async until(call, begun) {
    const look = (): Promise<Delivery> => call<Delivery>('GET', `/deliveries/${begun.id}`);
    const isOver = ({ attemptList, status }: Delivery): boolean =>
      attemptList.length > 0 || status === 'canceled';
    const delivery = await poll(await look(), look, isOver, attemptWithinMs);
    if (!isOver(delivery))
      throw new CommandError(
        `${begun.id} has not been attempted yet, because its endpoint is busy or failing. See \`tatami deliveries show ${begun.id}\`.`,
        exitCodes.tryLater,
      );
    if (delivery.status === 'retrying')
      say(
        `The attempt failed; the server retries automatically, next at ${printable(delivery.nextAttemptAt ?? '')}.`,
      );
    return delivery;
  },
  failed: (delivery) => (delivery as Delivery).status !== 'delivered',
};

const isRunning = ({ status }: State): boolean => status === 'running';

function whileRunning(begun: State, look: () => Promise<State>): Promise<State> {
  return poll(
    begun,
    look,
    (state) => !isRunning(state),
    Number.POSITIVE_INFINITY,
    () => say('Still running. The work continues if you stop this command.'),
  );
}

const replayEnd: Wait = {
  until: (call, begun) => whileRunning(begun, () => call<State>('GET', `/replays/${begun.id}`)),
  failed: (replay) => (replay as State).status === 'canceled',
};

const backfillEnd: Wait = {
  until: (call, begun, { id = '' }) =>
    whileRunning(begun, () => call<State>('GET', `/plugins/${encoded(id)}/catch-up`)),
  failed: () => false,
};

/** By operation. */
export const waits: Readonly<Record<string, Wait>> = {
  'runs.retry': runEnd,
  'plugins.run-schedule': runEnd,
  'plugins.call-action': calledEnd(
    'The action failed and is not retried automatically. Correct the cause, then call the action again.',
  ),
  'automations.run': calledEnd(
    'The run failed and is not retried automatically. Correct the cause, then run the automation again.',
  ),
  'plugins.catch-up': backfillEnd,
  'webhooks.ping': deliveryAttempt,
  'webhooks.sample': deliveryAttempt,
  'deliveries.replay': deliveryAttempt,
  'webhooks.replay': replayEnd,
};

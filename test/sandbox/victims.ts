// Three regular plugins that work beside a fault. Each pings the host, pauses and starts over; an interrupted run is
// repeated, and any result other than success is recorded for the test.
import { expect } from 'bun:test';
import { eventLimits, jobOf, pluginOf, until } from './harness.ts';
import type { Sandbox } from '../../core/platform/sandbox/supervisor.ts';

const pauseMs = 60;
/**
 * The victims need a few milliseconds. Concurrent runs are charged equal parts of their process's usage: if one core of
 * a virtual machine stalls, its part is charged to the run on the other core.
 */
const limits = { ...eventLimits, cpuMs: 1_000, entryMs: 500 };
const commandNames = ['ins_victim_a', 'ins_victim_b', 'ins_victim_c'];

export interface Victims {
  /** Number of successful runs, by victim. */
  succeeded(): number[];
  interrupted(): number;
  /** Results other than success. */
  wronged: string[];
  /** Waits until every started run has succeeded. */
  stop(): Promise<void>;
}

export async function startVictims(sandbox: Sandbox): Promise<Victims> {
  const code = await pluginOf('const issue = await ctx.issues.get(event.data.id); ctx.log.info(issue.op);');
  const counts = commandNames.map(() => 0);
  const wronged: string[] = [];
  let interrupted = 0;
  let going = true;
  const live = async (index: number): Promise<void> => {
    const installId = commandNames[index] as string;
    while (going) {
      for (let done = false; !done;) {
        const outcome = await sandbox.run(jobOf(installId, code, { limits }));
        done = outcome.status !== 'interrupted';
        if (outcome.status === 'succeeded') counts[index] = (counts[index] ?? 0) + 1;
        else if (outcome.status === 'interrupted') interrupted++;
        else wronged.push(`${installId}: ${outcome.reason}: ${outcome.message}`);
      }
      await Bun.sleep(pauseMs);
    }
  };
  const lives = commandNames.map((_, index) => live(index));
  return {
    succeeded: () => [...counts],
    interrupted: () => interrupted,
    wronged,
    async stop() {
      going = false;
      await Promise.all(lives);
    },
  };
}

/** Waits until every victim succeeds twice more, and expects no other result. */
export async function victimsResume(victims: Victims): Promise<void> {
  const before = victims.succeeded();
  await until('every victim continues', () =>
    victims.succeeded().every((count, index) => count > (before[index] ?? 0) + 1),
  );
  expect(victims.wronged).toEqual([]);
}

// Three innocent plugins that keep working while something goes wrong next to them. Each pings the host, pauses and
// starts over; an interrupted run is run again, and any other ending than success is kept for the test to find.
import { expect } from 'bun:test';
import { eventLimits, jobOf, pluginOf, until } from './harness.ts';
import type { Sandbox } from '../../core/sandbox/supervisor.ts';

const pauseMs = 60;
/**
 * They need a few milliseconds. Those at work beside one another are charged equal parts of what their process uses: where one core of
 * a virtual machine stands still, its part is the time of its neighbour on the other one.
 */
const limits = { ...eventLimits, cpuMs: 1_000, entryMs: 500 };
const commandNames = ['ins_victim_a', 'ins_victim_b', 'ins_victim_c'];

export interface Victims {
  /** Runs that have succeeded, by victim. */
  succeeded(): number[];
  interrupted(): number;
  /** Endings that no victim deserves. */
  wronged: string[];
  /** Every run started has been brought to success. */
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

/** Every victim succeeds twice more, and none has ended in another way. */
export async function victimsResume(victims: Victims): Promise<void> {
  const before = victims.succeeded();
  await until('every victim goes on', () =>
    victims.succeeded().every((count, index) => count > (before[index] ?? 0) + 1),
  );
  expect(victims.wronged).toEqual([]);
}

// `tatami plugins attack`: attacks a server and prints the verdicts. Exits with 1 if an attack was not held.
import { derivedId } from '../../../platform/lib/ids.ts';
import { issue } from '../../../features/issues/contract.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';
import { connect, remoteOf, type RemoteOptions } from '../lib/remote.ts';
import { forgeries, hostiles, runSuite, scenes, type SuiteVerdict } from '../../../../sdk/attack/index.ts';

export interface AttackOptions extends RemoteOptions {
  team: string;
  group?: string;
}

/** @throws CommandError for an unknown group */
export async function attack(options: AttackOptions): Promise<void> {
  const isChosen = chosenBy(options.group);
  const chosen = {
    hostiles: hostiles.filter(isChosen),
    scenes: scenes.filter(isChosen),
    forgeries: forgeries.filter(isChosen),
  };
  const count = Object.values(chosen).flat().length + 1;
  const { server } = remoteOf(options);
  const progress = createProgress();
  let judged = 0;
  const stop = stopSignal();
  const verdicts = await runSuite({
    ...chosen,
    call: connect(options, progress.note),
    callAs: (token) => connect({ server, token }, progress.note),
    server,
    team: options.team,
    // A valid id of an issue that does not exist.
    stranger: derivedId(issue.id, '_0000000000000', crypto.randomUUID()),
    signal: stop,
    onVerdict: ({ name }) => progress.show(`${++judged} of ${count}: ${name}`),
  }).finally(progress.end);
  printResult(verdicts.toSorted(inOrder), options, (shown) => shown.map(lineOf).join('\n'));
  if (stop.aborted) process.exit(exitCodes.interrupted);
  if (verdicts.some(({ verdict }) => verdict !== 'held')) process.exitCode = exitCodes.failed;
}

function chosenBy(groups: string | undefined): (attack: { readonly group: number }) => boolean {
  if (groups === undefined) return () => true;
  const known = new Set([...hostiles, ...scenes, ...forgeries].map(({ group }) => group));
  const wanted = new Set(groups.split(',').map(Number));
  for (const group of wanted)
    if (!known.has(group))
      throw new CommandError(
        `Unknown group of attacks ${groups}. Use ${[...known].sort((a, b) => a - b).join(', ')}.`,
        exitCodes.usage,
      );
  return ({ group }) => wanted.has(group);
}

const inOrder = (a: SuiteVerdict, b: SuiteVerdict): number =>
  a.group - b.group || a.name.localeCompare(b.name);

function lineOf({ group, name, verdict, why, ms }: SuiteVerdict): string {
  const label = group === 0 ? '' : String(group);
  return `${label.padStart(2)}  ${name.padEnd(24)}  ${verdict.padEnd(11)}  ${String(ms).padStart(6)} ms  ${why.slice(0, 200)}`;
}

/** After the first Ctrl-C or SIGTERM no further attack starts, and everything created is removed. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

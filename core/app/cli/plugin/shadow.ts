// `tatami plugins shadow NAME`: begins, shows or stops the version that runs beside an installed one.
import type { ShadowReport } from '../../../features/plugins/offline.ts';
import { CommandError, exitCodes, printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { differenceLines } from './backtest.ts';
import { readPackageInput } from './author/package.ts';
import { explained } from '../operations/names.ts';

export interface ShadowOptions extends RemoteOptions {
  with?: string;
  /** File of the signature of the package. */
  signature?: string;
  stop?: boolean;
}

interface Shadow {
  readonly pluginVersion: string;
  readonly isRunning: boolean;
  readonly stoppedBy: string | null;
  readonly waiting: number;
  readonly report: ShadowReport;
  readonly startedAt: string;
}

const differencesShown = 10;

/** @param folder where relative paths begin */
export async function shadow(name: string, options: ShadowOptions, folder: string): Promise<void> {
  if (options.with !== undefined && options.stop === true)
    throw new CommandError('Use --with or --stop, not both.', exitCodes.usage);
  const call = connect(options);
  const path = `/plugins/${encodeURIComponent(name)}/shadow`;
  const { with: source, signature } = options;
  const body =
    source === undefined ? null : await readPackageInput(source, folder, { signature, bareFolder: true });
  const asked = async (): Promise<Shadow> => {
    if (body) return call<Shadow>('POST', path, body);
    if (options.stop === true) await call('DELETE', path);
    return call<Shadow>('GET', path);
  };
  printResult(await explained(call, 'plugins.get', { id: name }, asked()), options, (one) =>
    shadowLines(name, one),
  );
}

function shadowLines(
  name: string,
  { pluginVersion, isRunning, stoppedBy, startedAt, ...one }: Shadow,
): string {
  const { report, waiting } = one;
  const { runs, same, different, failed, dropped, cpuMs, differences } = report;
  return [
    `${pluginVersion} next to ${name} since ${startedAt}: ${isRunning ? 'running' : `stopped (${stoppedBy})`}`,
    `runs ${runs}: ${same} same, ${different} different, ${failed} failed   waiting ${waiting}, dropped ${dropped}   cpu ${cpuMs} ms`,
    ...differences.slice(0, differencesShown).flatMap(({ at, type, eventId, fields }) => [
      `  ${at}  ${type}  ${eventId}`,
      ...differenceLines(
        fields.map(({ object, field, real, shadow }) => ({ object, field, first: real, second: shadow })),
        ['the installed version', pluginVersion],
      ),
    ]),
    ...(differences.length > differencesShown
      ? [`  … and ${differences.length - differencesShown} more; --json shows them`]
      : []),
  ].join('\n');
}

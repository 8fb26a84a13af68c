// `tatami plugin backtest DIR`: tries the plugin of a folder, or an installed one by name, on recorded events and prints what it would
// have done. Ctrl-C cancels it.
import { resolve } from 'node:path';
import { statSync } from 'node:fs';
import { ApiCallError } from '../../../sdk/client/index.ts';
import type { Call } from '../../../sdk/client/call.ts';
import { systemClock } from '../../lib/clock.ts';
import { moment, wholeNumber } from '../flags.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../output.ts';
import { poll } from '../poll.ts';
import { connect, type RemoteOptions } from '../remote.ts';
import { gateLines, reportLines, type Backtest } from './backtest-lines.ts';
import { saying } from './known.ts';
import { packFolder } from './pack.ts';
import { readSettings } from './settings.ts';

export interface BacktestOptions extends RemoteOptions {
  since: string;
  until?: string;
  events?: string;
  settings?: string;
}

const eventsMax = 10_000;

/** @param folder where relative paths begin */
export async function backtest(source: string, options: BacktestOptions, folder: string): Promise<void> {
  const call = connect(options);
  const now = systemClock.nowMs();
  const asked = {
    since: moment('--since', options.since, now),
    ...(options.until === undefined ? {} : { until: moment('--until', options.until, now) }),
    ...(options.events === undefined
      ? {}
      : { events: wholeNumber('--events', options.events, 1, eventsMax) }),
    ...(options.settings === undefined ? {} : { settings: readSettings(options.settings, folder) }),
  };
  const root = resolve(folder, source);
  const isFolder = statSync(root, { throwIfNoEntry: false })?.isDirectory() === true;
  const started = isFolder
    ? await startPackage(call, { ...asked, package: await packFolder(root) })
    : await saying(call, { plugin: source }, startInstalled(call, source, asked));
  const ended = await waitFor(call, started);
  printResult(ended, options, reportLines);
}

/** On the plugin where a version of it is installed, so that its own runs are compared too. */
async function startPackage(
  call: Call,
  body: { readonly package: Awaited<ReturnType<typeof packFolder>> },
): Promise<Backtest> {
  try {
    return await startInstalled(call, body.package.manifest.id, body);
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 404) throw error;
    return call<Backtest>('POST', '/backtests', body);
  }
}

function startInstalled(call: Call, plugin: string, body: object): Promise<Backtest> {
  return call<Backtest>('POST', `/plugins/${encodeURIComponent(plugin)}/backtests`, body);
}

/** How another version would do on the last runs of the installed one. */
export async function showGate(
  call: Call,
  { pluginId, pluginVersion }: { readonly pluginId: string; readonly pluginVersion: string },
  body: { readonly package: object; readonly runs: number },
): Promise<string> {
  const started = await call<Backtest>('POST', `/plugins/${encodeURIComponent(pluginId)}/gate`, body);
  return gateLines(await waitFor(call, started), pluginVersion);
}

/** @throws CommandError where it did not come to its end */
async function waitFor(call: Call, started: Backtest): Promise<Backtest> {
  const { id } = started;
  const progress = createProgress();
  const stop = (): void => {
    process.exitCode = exitCodes.interrupted;
    // Its end is seen by who polls.
    void call('POST', `/backtests/${id}/cancel`).catch(() => undefined);
  };
  process.once('SIGINT', stop);
  try {
    const look = async (): Promise<Backtest> => {
      const now = await call<Backtest>('GET', `/backtests/${id}`);
      const { looked, of, runs } = now.progress ?? { looked: 0, of: 0, runs: 0 };
      // Before it is known how much there is, there is nothing to tell.
      if (of > 0) progress.show(`${id}: ${looked} of ${of} looked at, ${runs} runs`);
      return now;
    };
    const ended = await poll(started, look, ({ finishedAt }) => finishedAt !== null);
    if (ended.status === 'done') return ended;
    throw ended.status === 'canceled'
      ? new CommandError(`${id} was canceled.`, exitCodes.interrupted)
      : new CommandError(`${id} failed: ${ended.error ?? 'nobody knows why'}`);
  } finally {
    progress.end();
    process.off('SIGINT', stop);
  }
}

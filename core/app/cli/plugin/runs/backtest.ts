// `tatami plugin backtest DIR`: tries the plugin of a folder or a package file, or an installed one by name, on recorded events and prints what it would
// have done. Ctrl-C cancels it.
import { resolve } from 'node:path';
import { statSync } from 'node:fs';
import { ApiCallError } from '../../../../../sdk/client/index.ts';
import type { Call } from '../../../../../sdk/client/call.ts';
import { systemClock } from '../../../../platform/lib/time/clock.ts';
import { moment, wholeNumber } from '../../lib/flags.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../../lib/output.ts';
import { poll } from '../../lib/poll.ts';
import { connect, type RemoteOptions } from '../../lib/remote.ts';
import { gateLines, reportLines, type Backtest } from './backtest-lines.ts';
import { readPackageInput, type PackageInput } from '../author/package-input.ts';
import { saying } from '../author/known.ts';
import { readSettings } from '../settings.ts';

export interface BacktestOptions extends RemoteOptions {
  since: string;
  until?: string;
  events?: string;
  settings?: string;
  /** File of the signature of the package. */
  signature?: string;
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
  const starting = isPackage(source, folder)
    ? startPackage(call, {
        ...asked,
        ...(await readPackageInput(source, folder, { signature: options.signature, bareFolder: true })),
      })
    : saying(call, { plugin: source }, startInstalled(call, source, asked));
  const ended = await waitFor(call, starting);
  printResult(ended, options, reportLines);
}

/** An installed plugin has a bare name, which may hold points: acme.hello. */
function isPackage(source: string, folder: string): boolean {
  const found = statSync(resolve(folder, source), { throwIfNoEntry: false });
  return found?.isDirectory() === true || /[/\\]|\.json$/.test(source);
}

/** On the plugin where a version of it is installed, so that its own runs are compared too. */
async function startPackage(call: Call, body: PackageInput): Promise<Backtest> {
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
  body: PackageInput & { readonly runs: number },
): Promise<string> {
  const starting = call<Backtest>('POST', `/plugins/${encodeURIComponent(pluginId)}/gate`, body);
  return gateLines(await waitFor(call, starting), pluginVersion);
}

/** @param starting an interrupt cancels it, also before its id is known. @throws CommandError where it did not come to its end */
async function waitFor(call: Call, starting: Promise<Backtest>): Promise<Backtest> {
  const progress = createProgress();
  const cancel = async (): Promise<void> => {
    const { id } = await starting;
    await call('POST', `/backtests/${id}/cancel`);
  };
  const release = takeInterrupts(() => {
    process.exitCode = exitCodes.interrupted;
    // Its end is seen by who polls.
    void cancel().catch(() => undefined);
  });
  try {
    const started = await starting;
    const { id } = started;
    const look = async (): Promise<Backtest> => {
      const now = await call<Backtest>('GET', `/backtests/${id}`);
      // Before it is known how much there is, there is nothing to tell.
      if (now.progress && now.progress.of > 0) progress.show(`${id}: ${progressText(now.progress)}`);
      else if (now.status === 'queued') progress.show(`${id} is queued ${await queueText(call, id)}`);
      return now;
    };
    const ended = await poll(started, look, ({ finishedAt }) => finishedAt !== null);
    if (ended.status === 'done') return ended;
    throw ended.status === 'canceled'
      ? new CommandError(
          `${id} was canceled. Start it again with \`tatami plugin backtest\`.`,
          exitCodes.interrupted,
        )
      : new CommandError(`${id} failed: ${ended.error ?? 'the server gave no reason. Start it again.'}`);
  } finally {
    progress.end();
    release();
  }
}

/** An interrupt ends other commands at once. @returns what gives it back to them; a second interrupt ends this one too */
function takeInterrupts(stop: () => void): () => void {
  const others = process.listeners('SIGINT');
  process.removeAllListeners('SIGINT');
  process.once('SIGINT', stop);
  return () => {
    process.off('SIGINT', stop);
    for (const other of others) process.once('SIGINT', other);
  };
}

function progressText({ looked, of, runs }: NonNullable<Backtest['progress']>): string {
  return `${looked} of ${of} events, ${runs} runs`;
}

/** What one that has not begun waits for, as far as this workspace may know it. */
async function queueText(call: Call, id: string): Promise<string> {
  const { data } = await call<{ data: Backtest[] }>('GET', '/backtests?limit=50');
  const before = data.slice(data.findIndex((one) => one.id === id) + 1);
  const ahead = before.filter(({ finishedAt }) => finishedAt === null).reverse();
  if (ahead.length === 0) return 'until the server has capacity';
  const shown = ahead.map((one) => {
    const state = one.progress ? progressText(one.progress) : one.status;
    return `${one.id} of ${one.plugin} ${one.pluginVersion} (${state})`;
  });
  return `behind ${shown.join(', ')}`;
}

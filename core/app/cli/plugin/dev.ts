// `tatami plugins dev [DIR]`: installs the plugin of a folder at every change, and shows its runs as they end.
import { watch } from 'node:fs';
import { resolve } from 'node:path';
import type { Call } from '../../../../sdk/client/call.ts';
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import { printable, printableCopy } from '../../../platform/lib/text/printable.ts';
import { stopSignal } from '../lib/interrupts.ts';
import { mayPass, printResult, say } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { isOpen, runLines, type Run } from '../operations/views/runs.ts';
import { packFolder } from './author/package.ts';
import { installInput, type InstallOptions } from './install.ts';

export interface DevOptions extends RemoteOptions {
  mode?: string;
  settings?: string;
  yes?: boolean;
}

/** Editors write a file in several steps. */
const settleMs = 150;
const lookEveryMs = 1_000;
/** Runs read at a look; more of them end within one interval only under load. */
const runsRead = 50;

/** @param dir folder of the plugin @param folder in which a relative path begins */
export async function dev(dir: string, options: DevOptions, folder: string): Promise<void> {
  const root = resolve(folder, dir);
  const call = connect(options);
  const stopped = stopSignal();
  const session = createSession(call, root, options, folder);
  await session.install();
  const changes = watchFolder(root);
  say(`Watching ${root}. Ctrl-C stops; the plugin stays installed.`);
  try {
    while (!stopped.aborted) {
      if (await changes.next(stopped)) await session.install();
      await session.showRuns();
    }
  } finally {
    changes.close();
  }
}

function createSession(call: Call, root: string, options: DevOptions, folder: string) {
  const seen = new Set<string>();
  let pluginId: string | null = null;
  /** Requests that the person has granted; a change of them asks again. */
  let granted: string | null = null;

  return {
    /** Installs the folder; the fault of a folder that cannot be packed is printed, and the next change tries again. */
    async install(): Promise<void> {
      try {
        const document = await packFolder(root);
        const requests = requestsOf(document.manifest);
        const how: InstallOptions = { ...options, replace: true, downgrade: true, probation: false };
        await installInput(call, { package: document }, how, { folder, isGranted: requests === granted });
        const isFirst = pluginId === null;
        [granted, pluginId] = [requests, document.manifest.id];
        await enable(call, pluginId);
        if (isFirst) for (const { id } of await runsOf(call, pluginId)) seen.add(id);
      } catch (error) {
        // Without a first installation there is nothing to watch for.
        if (pluginId === null || !(error instanceof Error)) throw error;
        say(`${printable(error.message)}\nWaiting for the next change.`);
      }
    },
    async showRuns(): Promise<void> {
      if (pluginId === null) return;
      const runs = await runsOf(call, pluginId).catch((error: unknown) => {
        if (!mayPass(error)) throw error;
        return [];
      });
      for (const run of runs.toReversed()) {
        if (seen.has(run.id) || seen.has(attemptOf(run)) || (isOpen(run) && run.error === null)) continue;
        // A failed attempt that is repeated later is shown at once.
        seen.add(isOpen(run) ? attemptOf(run) : run.id);
        printResult(run, options, () => runLines(printableCopy(run)));
        if (run.error) await tellState(call, pluginId);
      }
    },
  };
}

const attemptOf = ({ id, attempt }: Run): string => `${id}:${attempt}`;

interface Standing {
  readonly state: string;
  readonly stateReason: string | null;
}

const pathOf = (plugin: string): string => `/plugins/${encodeURIComponent(plugin)}`;
const isActive = ({ state }: Standing): boolean => state === 'active' || state === 'probation';

/** Failures may have disabled the plugin before the change. */
async function enable(call: Call, plugin: string): Promise<void> {
  if (!isActive(await call<Standing>('GET', pathOf(plugin))))
    await call('PATCH', pathOf(plugin), { state: 'active' });
}

/** Says that failures have disabled the plugin. */
async function tellState(call: Call, plugin: string): Promise<void> {
  const standing = await call<Standing>('GET', pathOf(plugin));
  const { state, stateReason } = standing;
  if (!isActive(standing))
    say(
      printable(`${plugin} is ${state}: ${stateReason ?? 'no reason is known'} The next change enables it.`),
    );
}

function requestsOf({ version: _version, description: _description, ...requests }: PluginManifest): string {
  return JSON.stringify(requests);
}

async function runsOf(call: Call, plugin: string): Promise<Run[]> {
  return (await call<{ data: Run[] }>('GET', `${pathOf(plugin)}/runs?limit=${runsRead}`)).data;
}

interface Changes {
  /** Waits for a change, but no longer than one interval of looking. @returns true if files have changed and settled */
  next(signal: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Files that change without a change of the plugin. */
const ignored = /(^|\/)(node_modules|\.git)(\/|$)|\.tatami\.json(\.sig)?$/;

function watchFolder(root: string): Changes {
  let changedMs: number | null = null;
  let wake: () => void = () => undefined;
  const note = (_: string, name: string | null): void => {
    if (name !== null && ignored.test(name)) return;
    changedMs = performance.now();
    wake();
  };
  const watcher = watch(root, { recursive: true }, note);

  const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    const { promise, resolve: done } = Promise.withResolvers<void>();
    wake = (): void => done();
    const timer = setTimeout(wake, ms);
    signal.addEventListener('abort', wake);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', wake);
  };

  return {
    async next(signal) {
      if (changedMs === null) await pause(lookEveryMs, signal);
      if (changedMs === null || signal.aborted) return false;
      while (performance.now() - changedMs < settleMs && !signal.aborted) await Bun.sleep(settleMs / 3);
      changedMs = null;
      return !signal.aborted;
    },
    close: () => watcher.close(),
  };
}

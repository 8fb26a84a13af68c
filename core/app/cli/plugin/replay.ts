// `tatami runs replay RUN [--local DIR]`: whether a recorded run comes out the same again: in the server, with the code that ran; or
// here, with the plugin of a folder. Nothing is written.
import type { Call } from '../../../../sdk/client/call.ts';
import { ApiCallError } from '../../../../sdk/client/index.ts';
import type { PluginPackage } from '../../../../sdk/plugin/manifest.ts';
import {
  withLocalSandbox,
  replay,
  type Divergence,
  type Replayed,
  whyNotItsCode,
  type Recording,
} from '../../../features/plugins/offline.ts';
import { CommandError, exitCodes, logHere, printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { readPackageInput } from './author/package.ts';
import { explained } from '../operations/names.ts';

export interface ReplayRunOptions extends RemoteOptions {
  local?: string;
}

export async function replayRun(runId: string, options: ReplayRunOptions, folder: string): Promise<void> {
  const call = connect(options);
  const path = `/runs/${encodeURIComponent(runId)}`;
  const replayed =
    options.local === undefined
      ? await explained(call, 'runs.get', { id: runId }, call<Replayed>('POST', `${path}/replay`, {}))
      : await replayHere(
          await explained(call, 'runs.get', { id: runId }, call<Recording>('GET', `${path}/recording`)),
          await pluginOf(call, path),
          (await readPackageInput(options.local, folder, { bareFolder: true })).package,
        );
  printResult(replayed, options, replayText);
  if (replayed.result !== 'identical') process.exitCode = exitCodes.failed;
}

/** The id of the plugin that ran; undefined where it was removed since. @param path of the run */
async function pluginOf(call: Call, path: string): Promise<string | undefined> {
  const { pluginId: install } = await call<{ pluginId: string }>('GET', path);
  try {
    return (await call<{ pluginId: string }>('GET', `/plugins/${install}`)).pluginId;
  } catch (error) {
    if (error instanceof ApiCallError && error.status === 404) return undefined;
    throw error;
  }
}

async function replayHere(
  recording: Recording,
  pluginId: string | undefined,
  { code: source, sha256, manifest }: PluginPackage,
): Promise<Replayed> {
  const why = whyNotItsCode(manifest, recording.handler, pluginId);
  if (why !== null) throw new CommandError(why, exitCodes.usage);
  const code = { sha256, source, handlers: [...manifest.handlers] };
  const job = { runId: 'replay', workspaceId: 'here', installId: 'replay', code, recording };
  return withLocalSandbox(logHere('error'), (sandbox) => replay(sandbox, job));
}

/** `diverged at call 3, issues.update, argument 2, /priority: recorded "high", replayed "low"`. */
function replayText({ result, divergence, cpuMs }: Replayed): string {
  const cost = `cpu ${Math.round(cpuMs)} ms`;
  if (!divergence) return `${result}  ${cost}`;
  return [
    `${result} at ${placeOf(divergence)}  ${cost}`,
    `  recorded: ${JSON.stringify(divergence.recorded)}`,
    `  replayed: ${JSON.stringify(divergence.replayed)}`,
  ].join('\n');
}

function placeOf({ call, op, argument, field }: Divergence): string {
  if (call === null) return `the end: ${field}`;
  const of = argument === null ? '' : `, argument ${argument}${field === '' ? '' : `: ${field}`}`;
  return `call ${call}, ${op}${of}`;
}

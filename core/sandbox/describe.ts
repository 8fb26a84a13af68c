/** Reads a plugin's static manifest out of its bundle, by evaluating it in a jailed sidecar of its own that is killed afterwards. */
import { bundlePrograms } from './fleet/bundle.ts';
import { findAddon, findNode } from './locate.ts';
import { SidecarProcess } from './fleet/process.ts';
import { CODE_MAX } from './protocol.ts';
import type { FromSidecar, RunLimits } from './protocol.ts';

const LIMITS: RunLimits = {
  cpuMs: 1000,
  entryMs: 1000,
  wallMs: 5000,
  memoryMb: 64,
  calls: 0,
  concurrentCalls: 0,
  logBytes: 0,
  logLines: 0,
  // As much as a run has to load it.
  startupMs: 250,
};
/** Limits are of processor time; this is for a machine that is too busy to give it. */
const WALL_MS = 90_000;
const MANIFEST_MAX = 256 * 1024;

/**
 * The definition without its functions, plus `handlers`: their names, sorted. Not validated.
 * @throws Error with the module's own message when it cannot be evaluated
 */
export async function describePlugin(code: string, nodePath: string = findNode()): Promise<unknown> {
  if (code.length > CODE_MAX) throw new Error(`The bundle is larger than ${CODE_MAX} characters.`);
  let answered: (message: FromSidecar) => void = () => undefined;
  let died: (error: Error) => void = () => undefined;
  const sidecar = new SidecarProcess({
    nodePath,
    addonPath: findAddon(),
    programs: await bundlePrograms(),
    jail: process.platform === 'linux' ? 'auto' : 'off',
    isolatesMax: 1,
    idleMs: 60_000,
    onMessage: (message) => answered(message),
    onGone: (why) => died(new Error(`The plugin's definition cost the sandbox its process: ${why}.`)),
    onStderr: () => undefined,
  });
  const timer = setTimeout(() => sidecar.kill('it took too long'), WALL_MS);
  try {
    await sidecar.ready;
    const answer = await new Promise<FromSidecar>((resolve, reject) => {
      answered = (message) =>
        (message.t === 'described' || message.t === 'end' || message.t === 'tainted') && resolve(message);
      died = reject;
      sidecar.send({ t: 'describe', run: 1, source: code, limits: LIMITS });
    });
    return manifestOf(answer);
  } finally {
    clearTimeout(timer);
    sidecar.kill('the definition is read');
    await sidecar.exited;
  }
}

function manifestOf(answer: FromSidecar): unknown {
  if (answer.t === 'described') {
    if (answer.manifest.length > MANIFEST_MAX)
      throw new Error(`The manifest is larger than ${MANIFEST_MAX} characters.`);
    return JSON.parse(answer.manifest);
  }
  const reason =
    answer.t === 'end' && 'message' in answer.end ? answer.end.message : 'it could not be evaluated in time';
  throw new Error(`The plugin's definition does not load: ${reason}`);
}

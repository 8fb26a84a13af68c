// Reads a plugin's static manifest out of its bundle, by evaluating it in a jailed sidecar of its own that is killed
// afterwards.
import { bundlePrograms } from './fleet/bundle.ts';
import { nonceSource, ProtocolBreach } from './frames.ts';
import { prepareJail } from './jail/prepare.ts';
import { findAddon, findNode } from './locate.ts';
import { spawnSidecar, type Spoken } from './fleet/process.ts';
import { codeMax } from './protocol.ts';
import type { RunLimits } from './protocol.ts';

const describeLimits: RunLimits = {
  cpuMs: 1000,
  entryMs: 1000,
  wallMs: 5000,
  memoryMb: 64,
  calls: 0,
  concurrentCalls: 0,
  logBytes: 0,
  logLines: 0,
  // A run has as much to load it.
  startupMs: 250,
};
/** Limits are of processor time; this is for a machine that is too busy to give it. */
const describeWallMs = 90_000;

/** The definition cannot be evaluated; the message holds the module's own. */
export class DefinitionError extends Error {
  /** Of what it threw, as V8 writes it; places are of the bundle, named `plugin.js`. */
  readonly thrownStack: string | undefined;
  constructor(reason: string, thrownStack?: string) {
    super(`The plugin's definition does not load: ${reason}`);
    this.thrownStack = thrownStack;
  }
}

/**
 * The definition without its functions, plus `handlers`: their names, sorted. Not validated.
 * @throws DefinitionError
 */
export async function describePlugin(code: string, nodePath: string = findNode()): Promise<unknown> {
  if (code.length > codeMax) throw new Error(`The bundle is larger than ${codeMax} characters.`);
  let answered: ((message: Spoken) => void) | undefined;
  let died: (error: Error) => void = () => undefined;
  const run = nonceSource()();
  const addonPath = findAddon();
  const sidecar = spawnSidecar({
    idle: false,
    nodePath,
    addonPath,
    programs: await bundlePrograms(),
    jail: process.platform === 'linux' ? 'auto' : 'off',
    isolatesMax: 1,
    ...(await prepareJail({ nodePath, addonPath })),
    idleMs: 60_000,
    busy: () => answered !== undefined,
    onMessage: (message) => {
      if (!answered || message.run !== run || message.t === 'drained')
        throw new ProtocolBreach('It spoke of what it was not asked for.');
      answered(message);
    },
    onGone: (why) => died(new Error(`The plugin's definition cost the sandbox its process: ${why}.`)),
    onStderr: () => undefined,
  });
  const timer = setTimeout(() => sidecar.kill('it took too long'), describeWallMs);
  try {
    await sidecar.ready;
    const answer = await new Promise<Spoken>((resolve, reject) => {
      answered = resolve;
      died = reject;
      sidecar.send({ t: 'describe', run, source: code, limits: describeLimits });
    });
    return manifestOf(answer);
  } finally {
    clearTimeout(timer);
    sidecar.kill('the definition is read');
    await sidecar.exited;
  }
}

function manifestOf(answer: Spoken): unknown {
  if (answer.t === 'described') return JSON.parse(answer.manifest);
  if (answer.t === 'end' && answer.end.status === 'failed')
    throw new DefinitionError(answer.end.message, answer.end.stack);
  throw new DefinitionError('it could not be evaluated in time');
}

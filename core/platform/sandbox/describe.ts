// Reads the static manifest of a plugin by evaluating its bundle in a separate jailed sidecar, which is killed afterwards.
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
  // Same as for a run, so that a bundle that can be described also loads.
  startupMs: 250,
};
/** Maximum wall time, for a machine that is too busy to reach the CPU limits. */
const describeWallMs = 90_000;

/** Thrown if a plugin's definition cannot be evaluated. The message includes that of the module's error. */
export class DefinitionError extends Error {
  /** V8 stack of the thrown error; positions are in the bundle, named `plugin.js`. */
  readonly thrownStack: string | undefined;
  constructor(reason: string, thrownStack?: string) {
    super(`The plugin's definition does not load: ${reason}`);
    this.thrownStack = thrownStack;
  }
}

/**
 * Returns the definition without its functions, plus `handlers`: their names, sorted. Not validated.
 * @throws DefinitionError
 */
export async function describePlugin(code: string, nodePath: string = findNode()): Promise<unknown> {
  if (code.length > codeMax)
    throw new Error(`The bundle is larger than ${codeMax} characters. Bundle less code.`);
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
        throw new ProtocolBreach('The message was not requested.');
      answered(message);
    },
    onGone: (why) =>
      died(
        new Error(
          `The plugin's definition crashed the sandbox process: ${why}. Remove code that runs while the module loads.`,
        ),
      ),
    onStderr: () => undefined,
  });
  const timer = setTimeout(() => sidecar.kill('the definition took too long to load'), describeWallMs);
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
    sidecar.kill('the definition was read');
    await sidecar.exited;
  }
}

function manifestOf(answer: Spoken): unknown {
  if (answer.t === 'described') return JSON.parse(answer.manifest);
  if (answer.t === 'end' && answer.end.status === 'failed')
    throw new DefinitionError(answer.end.message, answer.end.stack);
  throw new DefinitionError(
    'its evaluation took too long. Move work from the top level of the module into handlers.',
  );
}

// Reads the static manifest of a plugin, and decides which installs may not share a sidecar with others.
import { LRUCache } from 'lru-cache';
import { spawnSidecar, type Spoken } from './fleet/process.ts';
import { bundlePrograms } from './fleet/spawn.ts';
import { nonceSource, ProtocolBreach } from './frames.ts';
import { prepareJail } from './jail/prepare.ts';
import { findAddon, findNode } from './locate.ts';
import { codeMax, type RunLimits } from './protocol.ts';

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
 * Evaluates a plugin's bundle in a separate jailed sidecar, which is killed afterwards.
 * @returns the definition without its functions, plus `handlers`: their names, sorted. Not validated.
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
    inlineAfter: 1_000_000,
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

const crashMemoryMs = 3_600_000;
const burnMemoryMs = 600_000;
const blockMemoryMs = 3_600_000;
/** Maximum number of installs per category. An evicted install may share a sidecar again. */
const installsTrackedMax = 10_000;

/**
 * Quarantines installs whose run crashed a process within the last hour, suspects (active when a process died
 * and the culprit was unclear), and installs whose code was killed for its CPU time or memory within the last
 * ten minutes. A run that ends without a crash clears a suspect.
 */
export interface Violations {
  /** Records that a run of this install crashed a process. */
  crashed(installId: string): void;
  suspect(installId: string): void;
  /** Records that a run was ended because it blocked the main thread of its sidecar. */
  blocked(installId: string): void;
  /** Records that a run was killed for its CPU time or memory. Applies to this code only, and stays when the plugin is re-enabled. */
  burned(installId: string, sha256: string): void;
  /** Records that a run ended without crashing its process. */
  survived(installId: string): void;
  quarantined(installId: string, sha256: string): boolean;
  /**
   * Returns true if the install's guests may be entered on the main thread. False for an hour after a run blocked it, or was among the
   * suspects for the death of its process: if it does the same on another thread, the sidecar names it.
   */
  mayBlock(installId: string): boolean;
  /** Clears the crashes and suspicions of an install, but not the records of `burned` and `mayBlock`. */
  forget(installId: string): void;
}

/** @param trackedMax maximum number of installs stored per category */
export function createViolations(clock: () => number, trackedMax: number = installsTrackedMax): Violations {
  const isWithin = (atMs: number | undefined, ms: number): boolean =>
    atMs !== undefined && atMs > clock() - ms;
  const crashedAtMs = new LRUCache<string, number>({ max: trackedMax });
  const burnedAtMs = new LRUCache<string, number>({ max: trackedMax });
  const blockedAtMs = new LRUCache<string, number>({ max: trackedMax });
  const suspects = new LRUCache<string, true>({ max: trackedMax });
  const blocked = (installId: string): void => void blockedAtMs.set(installId, clock());
  return {
    crashed: (installId) => void crashedAtMs.set(installId, clock()),
    suspect(installId) {
      suspects.set(installId, true);
      blocked(installId);
    },
    blocked,
    burned: (installId, sha256) => void burnedAtMs.set(`${installId} ${sha256}`, clock()),
    survived: (installId) => void suspects.delete(installId),
    quarantined: (installId, sha256) =>
      suspects.has(installId) ||
      isWithin(crashedAtMs.get(installId), crashMemoryMs) ||
      (burnedAtMs.size > 0 && isWithin(burnedAtMs.get(`${installId} ${sha256}`), burnMemoryMs)),
    mayBlock: (installId) => blockedAtMs.size === 0 || !isWithin(blockedAtMs.get(installId), blockMemoryMs),
    forget(installId) {
      suspects.delete(installId);
      crashedAtMs.delete(installId);
    },
  };
}

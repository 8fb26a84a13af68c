// The guest program, bundled into one script and evaluated in every isolate before the plugin's module. Exposes three functions to
// the sidecar, which exchange only copied data: `register` and `describe` take the definition and return text, `step` takes strings
// and numbers and returns an object of strings.
import { resultUnitsMax } from '../../../../../sdk/plugin/handlers.ts';
import { readProgress } from '../../protocol.ts';
import { endRun, endWell, hostError, openOutbox, openRun, settle } from './bridge.ts';
import type { GuestLimits, GuestOutbox } from './bridge.ts';
import { installClock, setCpuLeft, startClock } from './clock.ts';
import { makeContext, membersOf } from './context.ts';
import type { GuestInput } from './context.ts';
import { handlerNames, readDefinition, staticManifest } from './definition.ts';
import type { GuestDefinition } from './definition.ts';
import { installGlobals } from './globals.ts';
import { hardenRealm, clip, indexOf, parse, slice, stringify } from './harden.ts';
import { installRecorder } from './recorder.ts';

const messageUnitsMax = 2000;
const tooLong = 'The result of the handler is longer than 20,480 characters of JSON. Return less data.';
let definition: GuestDefinition = { handlers: {}, scopes: [] };
let members = membersOf([]);
let limits: GuestLimits = { calls: 0, concurrentCalls: 0, logBytes: 0, logLines: 0 };

/**
 * Handles one entry: the messages for the guest, then all promises that settle as a result. Messages are flat quadruples (kind, id,
 * text, elapsedMs), because no object crosses the boundary.
 */
function step(cpuLeftMs: number, ...ops: (string | number)[]): GuestOutbox {
  const outbox = openOutbox();
  setCpuLeft(cpuLeftMs);
  for (let i = 0; i < ops.length; i += 4) {
    const kind = ops[i];
    const id = ops[i + 1] as string;
    const text = ops[i + 2] as string;
    const elapsedMs = ops[i + 3] as number;
    if (kind === 'limits') limits = parse(text) as GuestLimits;
    else if (kind === 'start') start(id, text);
    else settle(id, kind === 'answer', text, elapsedMs);
  }
  return outbox;
}

function start(handler: string, inputText: string): void {
  const input = parse(inputText) as GuestInput;
  const run = openRun(limits);
  startClock(input.nowMs, input.seed);
  void invoke(handler, input, run);
}

async function invoke(name: string, input: GuestInput, run: number): Promise<void> {
  try {
    const handle = definition.handlers[name];
    if (!handle) throw new Error(`The plugin has no handler ${name}.`);
    const result = await handle(input.event, makeContext(run, input, definition.scopes, members));
    const kind = slice(name, 0, indexOf(name, ':'));
    const progress = kind === 'schedule' ? progressText(result) : '';
    const answer = kind === 'action' || kind === 'route' ? resultText(result) : '';
    if (answer === null) return endRun('invalid_result', tooLong);
    endWell(progress, answer);
  } catch (error) {
    reportFailure(error);
  }
}

/** Returns a schedule's progress as JSON text, '' without one. Reads each property once. @throws Error with code `validation_failed` */
function progressText(result: unknown): string {
  if (result === null || typeof result !== 'object') return '';
  const { done, of, unit } = result as Record<string, unknown>;
  if (done === undefined && of === undefined) return '';
  const progress = readProgress({ done, of, unit });
  if (!progress)
    throw hostError(
      'validation_failed',
      'The progress of a schedule must be { done, of, unit? } with 0 <= done <= of and a unit of up to 40 letters.',
    );
  return stringify(progress);
}

/** Returns the result of an action or a route as JSON text; null if it is too long. */
function resultText(result: unknown): string | null {
  const text = stringify(result ?? null) as string | undefined;
  if (text === undefined) return 'null';
  return text.length > resultUnitsMax ? null : text;
}

/**
 * Ends the run with a value that the handler threw. Getters of the value may throw or loop; `try` and the
 * limit of the entry bound that.
 */
function reportFailure(error: unknown): void {
  try {
    const { code, afterMs, name, message, stack } = Object(error ?? {}) as Record<string, unknown>;
    const label = typeof name === 'string' && name !== '' ? clip(name, 100) : 'Error';
    const isText = error === null || typeof error !== 'object';
    const text = isText
      ? clip(String(error), messageUnitsMax)
      : `${label}: ${clip(message, messageUnitsMax)}`;
    if (code === 'retry_later')
      return endRun('retry_later', text, {
        retryAfterMs: typeof afterMs === 'number' && afterMs >= 0 ? afterMs : 0,
      });
    if (code === 'drop') return endRun('drop', text);
    endRun('error', text, { stack: framesOf(stack) });
  } catch {
    endRun('error', 'The handler threw a value that cannot be read. Throw an `Error`.');
  }
}

/** Returns only the frames of a stack, because a long message would leave no space for them. */
function framesOf(stack: unknown): string {
  if (typeof stack !== 'string') return '';
  const at = indexOf(stack, '\n    at ');
  return at < 0 ? '' : slice(stack, at + 1, at + 1 + messageUnitsMax);
}

function register(exported: unknown): string {
  definition = readDefinition(exported);
  members = membersOf(definition.scopes);
  return handlerNames(definition);
}

installRecorder();
hardenRealm();
installClock();
installGlobals();
Object.defineProperty(globalThis, 'tatamiBridge', {
  value: { step, register, describe: staticManifest },
  configurable: true,
});

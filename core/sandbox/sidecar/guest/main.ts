// The guest program: bundled to one script and evaluated in every isolate before the plugin's module. It leaves three
// functions for the sidecar (`register`, `describe`, `step`), which take only strings and numbers and return only strings.
import { resultUnitsMax } from '../../../../sdk/plugin/handlers.ts';
import { readProgress } from '../../protocol.ts';
import { afterCalls, endRun, endWell, hostError, openOutbox, openRun, settle } from './bridge.ts';
import type { GuestLimits, Outbox } from './bridge.ts';
import { installClock, setCpuLeft, startClock } from './clock.ts';
import { makeContext, membersOf } from './context.ts';
import type { RunInput } from './context.ts';
import { handlerNames, readDefinition, staticManifest } from './definition.ts';
import type { Definition } from './definition.ts';
import { installGlobals } from './globals.ts';
import { hardenRealm } from './harden.ts';
import { clip, indexOf, parse, slice, stringify } from './primordials.ts';
import { installRecorder } from './recorder.ts';

const messageUnitsMax = 2000;
const tooLong = 'What the handler returned is too long: it may have 20,480 characters of JSON.';
let definition: Definition = { handlers: {}, scopes: [] };
let members = membersOf([]);
let limits: GuestLimits = { calls: 0, concurrentCalls: 0, logBytes: 0, logLines: 0 };

/**
 * One entry: what has come for the guest, and after it all promises that settle by it. What comes are flat quadruples (kind, id, text,
 * elapsedMs); no object crosses the wall.
 */
function step(cpuLeftMs: number, ...ops: (string | number)[]): Outbox {
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
  const input = parse(inputText) as RunInput;
  const run = openRun(limits);
  startClock(input.nowMs, input.seed);
  void invoke(handler, input, run);
}

async function invoke(name: string, input: RunInput, run: number): Promise<void> {
  try {
    const handle = definition.handlers[name];
    if (!handle) throw new Error(`The plugin has no handler ${name}.`);
    const result = await handle(input.event, makeContext(run, input, definition.scopes, members));
    const kind = slice(name, 0, indexOf(name, ':'));
    const progress = kind === 'schedule' ? progressText(result) : '';
    const answer = kind === 'action' || kind === 'route' ? resultText(result) : '';
    if (answer === null) return endRun('invalid_result', tooLong);
    afterCalls(() => endWell(progress, answer));
  } catch (error) {
    reportFailure(error);
  }
}

/** What a schedule returns, read once. @throws Error with code `validation_failed` when it is meant as a progress and is none */
function progressText(result: unknown): string {
  if (result === null || typeof result !== 'object') return '';
  const { done, of, unit } = result as Record<string, unknown>;
  if (done === undefined && of === undefined) return '';
  const progress = readProgress({ done, of, unit });
  if (!progress)
    throw hostError(
      'validation_failed',
      'A schedule that says how far it has come returns { done, of, unit? }: 0 <= done <= of, and a unit of up to 40 letters.',
    );
  return stringify(progress);
}

/** What an action or a route returns, read once; null when it is longer than a result may be. */
function resultText(result: unknown): string | null {
  const text = stringify(result ?? null) as string | undefined;
  if (text === undefined) return 'null';
  return text.length > resultUnitsMax ? null : text;
}

/** Everything here reads guest values: getters may throw or loop, which the entry's limit and this `try` bound. */
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
    endRun('error', 'The handler threw a value that cannot be read.');
  }
}

/** A long message would leave no room for them. */
function framesOf(stack: unknown): string {
  if (typeof stack !== 'string') return '';
  const at = indexOf(stack, '\n    at ');
  return at < 0 ? '' : slice(stack, at + 1, at + 1 + messageUnitsMax);
}

function register(given: unknown): string {
  definition = readDefinition(given);
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

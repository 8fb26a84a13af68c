// Host calls are calls at the one door, as the plugin: each is checked and answered exactly as any client's request, and counts
// against the limits of the plugin (limits.ts, call-turns.ts) in place of a client's rate limits.
import type { Staging } from '../changes/staging.ts';
import type { CallAnswer } from '../sandbox/supervisor.ts';
import { CallError, doorCallOf } from './door-call.ts';
import type { HostCall, HostCalls } from './host-calls.ts';
import { askDoor, type BridgeCall } from './host-door.ts';
import { ValueError } from './kv/own.ts';
import { effectsMax } from './limits.ts';
import { isNotedInFull } from './noted-reads.ts';
import { ownCalls, type OwnCall } from './own-calls.ts';

/** Answers larger than this do not cross the wall (characters), but for calls that say otherwise. */
const answerMax = 256 * 1024;

/** Answers one host call. Never rejects for what the plugin did wrong. */
export async function callHost(call: BridgeCall, op: string, args: string): Promise<CallAnswer> {
  try {
    call.meter.takeCall();
    const parsed: unknown = JSON.parse(args);
    if (!Array.isArray(parsed)) throw new CallError('validation_failed', 'Arguments must be a list.');
    return { ok: true, value: await answerOf(call, op, parsed) };
  } catch (error) {
    if (error instanceof CallError || error instanceof ValueError)
      return { ok: false, error: { code: error.code, message: error.message } };
    if (error instanceof SyntaxError)
      return { ok: false, error: { code: 'validation_failed', message: 'Arguments must be JSON.' } };
    throw error;
  }
}

async function answerOf(call: BridgeCall, op: string, args: readonly unknown[]): Promise<string> {
  const own = ownCalls.get(op);
  const value = await noted(call, () =>
    own ? answerOwn(call, own, args) : answerAtDoor(call, hostCallOf(call.door.hostCalls, op), args),
  );
  const most = own?.answerMax ?? answerMax;
  if (value.length > most)
    throw new CallError(
      'quota_exceeded',
      `The answer is longer than ${most} characters. Ask for fewer fields, or a smaller limit.`,
    );
  return value;
}

/** Answers, and notes what the run learned by it. */
async function noted({ staged }: BridgeCall, answer: () => Promise<string>): Promise<string> {
  const { reads, effects } = staged;
  if (!reads) return answer();
  await reads.begin();
  try {
    return await answer();
  } finally {
    // A write that changed nothing, or was refused, told how things stand.
    if (staged.effects === effects) reads.use();
  }
}

function answerOwn(call: BridgeCall, own: OwnCall, args: readonly unknown[]): Promise<string> {
  if (!own.isRead) requireRoomToWrite(call.staged);
  return own.answer(call, args);
}

function answerAtDoor(call: BridgeCall, hostCall: HostCall, args: readonly unknown[]): Promise<string> {
  if (!hostCall.isRead) requireRoomToWrite(call.staged);
  const asked = doorCallOf(hostCall, args);
  if (hostCall.isRead && !isNotedInFull(hostCall.route, asked)) call.staged.reads?.everything();
  return askDoor(call, hostCall.route, asked);
}

function requireRoomToWrite({ effects, fullness }: Staging): void {
  if (effects >= effectsMax)
    throw new CallError('quota_exceeded', `A run writes at most ${effectsMax} times.`);
  if (fullness !== null) throw new CallError('quota_exceeded', fullness);
}

function hostCallOf(hostCalls: HostCalls, op: string): HostCall {
  const known = hostCalls.get(op);
  if (!known) throw new CallError('validation_failed', `There is no host call ${op}.`);
  return known;
}

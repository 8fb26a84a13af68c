// Answers the host calls of a run: own calls (own-calls.ts) directly, all others through an API request made
// as the plugin, authorized and validated like that of any client. Calls count against the limits of the
// plugin (limits.ts, call-queue.ts), not against the rate limits of clients.
import type { Staging } from '../../../kernel/changes/staging.ts';
import type { CallAnswer } from '../../../platform/sandbox/supervisor.ts';
import { CallError, gatewayCallOf, type GatewayCall } from './gateway-call.ts';
import type { HostCall, HostCalls } from './host-calls.ts';
import { callGateway, type BridgeCall } from './host-gateway.ts';
import { ValueError } from '../kv/own.ts';
import { effectsMax } from './limits.ts';
import { ownCalls, type OwnCall } from './own-calls.ts';
import type { Route } from '../../../kernel/http/route.ts';

/** Longest answer that is sent to the guest, in characters; an own call can set another limit. */
const answerMax = 256 * 1024;

/** Answers one host call. Errors that the plugin caused are answers; only internal errors reject. */
export async function callHost(call: BridgeCall, op: string, args: string): Promise<CallAnswer> {
  try {
    call.meter.takeCall();
    const parsed: unknown = JSON.parse(args);
    if (!Array.isArray(parsed))
      throw new CallError('validation_failed', 'The arguments of a host call must be a JSON array.');
    return { ok: true, value: await answerOf(call, op, parsed) };
  } catch (error) {
    if (error instanceof CallError || error instanceof ValueError)
      return { ok: false, error: { code: error.code, message: error.message } };
    if (error instanceof SyntaxError)
      return {
        ok: false,
        error: { code: 'validation_failed', message: 'The arguments of a host call must be JSON.' },
      };
    throw error;
  }
}

async function answerOf(call: BridgeCall, op: string, args: readonly unknown[]): Promise<string> {
  const own = ownCalls.get(op);
  const value = await noted(call, () =>
    own ? answerOwn(call, own, args) : answerByGateway(call, hostCallOf(call.gateway.hostCalls, op), args),
  );
  const most = own?.answerMax ?? answerMax;
  if (value.length > most)
    throw new CallError(
      'quota_exceeded',
      `The answer is longer than ${most} characters. Request fewer fields or set a smaller limit.`,
    );
  return value;
}

/** Answers the call and records its reads for conflict detection. */
async function noted({ staged }: BridgeCall, answer: () => Promise<string>): Promise<string> {
  const { reads, effects } = staged;
  if (!reads) return answer();
  await reads.begin();
  try {
    return await answer();
  } finally {
    // A write without an effect still reveals the current state to the run, so it counts as a read.
    if (staged.effects === effects) reads.use();
  }
}

function answerOwn(call: BridgeCall, own: OwnCall, args: readonly unknown[]): Promise<string> {
  if (!own.isRead) requireWriteCapacity(call.staged);
  return own.answer(call, args);
}

function answerByGateway(call: BridgeCall, hostCall: HostCall, args: readonly unknown[]): Promise<string> {
  if (!hostCall.isRead) requireWriteCapacity(call.staged);
  const gatewayCall = gatewayCallOf(hostCall, args);
  if (hostCall.isRead && !isNotedInFull(hostCall.route, gatewayCall)) call.staged.reads?.everything();
  return callGateway(call, hostCall.route, gatewayCall);
}

function requireWriteCapacity({ effects, fullness }: Staging): void {
  if (effects >= effectsMax)
    throw new CallError(
      'quota_exceeded',
      `A run can make at most ${effectsMax} writes. Split the work into several runs.`,
    );
  if (fullness !== null) throw new CallError('quota_exceeded', fullness);
}

function hostCallOf(hostCalls: HostCalls, op: string): HostCall {
  const known = hostCalls.get(op);
  if (!known)
    throw new CallError('validation_failed', `The host call ${op} does not exist. Use the calls of ctx.`);
  return known;
}

// Lists the API reads whose rows and lists are tracked one by one, so that a commit can check them precisely.
// After any other read, every change in the workspace counts as a conflict (core/kernel/changes/reads.ts).

/** Entities that are read only through their own finders and lists, and whose changes all emit an event of that entity. */
const listed = [
  ...['issues', 'comments', 'projects', 'milestones', 'cycles', 'labels', 'fields', 'templates', 'views'],
  ...['pipelines', 'releases', 'boards', 'project-updates'],
];
const notedReads: ReadonlySet<string> = new Set([
  ...listed.flatMap((path) => [`${path}.get`, `${path}.list`]),
  'relations.get',
  // `OwnValues` records this read.
  'plugins.kv.list',
]);

/** Reads with `asOf` come from the event log, so they have no rows to track. */
function isNotedInFull({ name }: Route, { query }: GatewayCall): boolean {
  return notedReads.has(name) && query?.asOf === undefined;
}

// Baseline of `webhooks`: the same POSTs from a bare loop, with the same signatures and number of
// connections, but without log, leases and records. It sends with `fetch` or with the egress client that
// deliveries use.
import { createEgress, resolveWithSystem } from '../../core/platform/lib/egress/egress.ts';
import { attemptHeaders, attemptLimits } from '../../core/features/webhooks/attempt.ts';
import type { WebhookMessage } from '../../core/features/webhooks/payload.ts';
import { mintSecret } from '../../core/platform/lib/secrets/tokens.ts';
import { version } from '../../core/app/version.ts';
import { answerParent } from '../children.ts';
import type { Captured } from '../servers/webhook-receiver.ts';

export type HttpClient = 'fetch' | 'egress';

export interface BareLoopPlan {
  readonly client: HttpClient;
  readonly urls: readonly string[];
  /** Requests captured from Tatami. Their bodies are sent unchanged; the headers are signed again. */
  readonly captured: readonly Captured[];
  readonly durationMs: number;
  /** Requests in flight per endpoint. */
  readonly connections: number;
  /** Steady rate of events, each sent to every endpoint, instead of closed loops. */
  readonly eventsPerSecond?: number;
}

export interface BareLoopResult {
  readonly requests: number;
  readonly perSecond: number;
  /** CPU time of this process per request. */
  readonly cpuUs: number;
  /** Latency of the round trip; at a steady rate, counted from the time the request was due. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const secret = mintSecret();
const egress = createEgress({
  allow: ['127.0.0.0/8'],
  ownPort: () => undefined,
  resolve: resolveWithSystem,
});

const clients: Readonly<
  Record<HttpClient, (url: string, headers: Record<string, string>, body: string) => Promise<number>>
> = {
  async fetch(url, headers, body) {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
    await response.arrayBuffer();
    return response.status;
  },
  egress: async (url, headers, body) =>
    (await egress.send({ url, method: 'POST', headers, body, ...attemptLimits })).status,
};

function messageOf({ head, body }: Captured): WebhookMessage {
  const of = (name: string): string | null =>
    new RegExp(`\r\n${name}: *([^\r]*)`, 'i').exec(head)?.[1] ?? null;
  return {
    eventId: of('webhook-id') ?? '',
    type: of('x-webhook-event') ?? '',
    traceparent: of('traceparent'),
    payload: body,
  };
}

let sent = 0;

const headersOf = (message: WebhookMessage): Record<string, string> =>
  attemptHeaders(
    { id: `dlv_${String(sent++).padStart(26, '0')}`, secrets: [secret] },
    message,
    Date.now(),
    version,
  );

/** Fails unless the baseline sends the same headers as Tatami; with fewer, the comparison would be unfair. */
function checkHeaders({ head }: Captured, message: WebhookMessage): void {
  for (const name of Object.keys(headersOf(message)))
    if (!head.toLowerCase().includes(`\r\n${name.toLowerCase()}:`))
      throw new Error(`The bare loop sends ${name}, which Tatami did not send.`);
  const ours = head.toLowerCase().match(/^(?:x-)?webhook-|^traceparent/gm)?.length ?? 0;
  const bare = Object.keys(headersOf(message)).filter((name) =>
    /^(?:x-)?webhook-|^traceparent/i.test(name),
  ).length;
  if (ours !== bare) throw new Error(`Tatami signs with ${ours} headers, the bare loop with ${bare}.`);
}

async function run(plan: BareLoopPlan): Promise<BareLoopResult> {
  const messages = plan.captured.map(messageOf);
  checkHeaders(plan.captured[0]!, messages[0]!);
  const latencies: number[] = [];
  const post = async (url: string, dueMs: number): Promise<void> => {
    const message = messages[sent % messages.length]!;
    const status = await clients[plan.client](url, headersOf(message), message.payload);
    if (status !== 200) throw new Error(`The bare loop got ${status}.`);
    latencies.push(performance.now() - dueMs);
  };
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  const endsMs = startedMs + plan.durationMs;
  const closedLoop = async (url: string): Promise<void> => {
    for (let now = performance.now(); now < endsMs; now = performance.now()) await post(url, now);
  };
  if (plan.eventsPerSecond === undefined)
    await Promise.all(
      plan.urls.flatMap((url) => Array.from({ length: plan.connections }, () => closedLoop(url))),
    );
  else
    for (
      let event = 0, dueMs = startedMs;
      dueMs < endsMs;
      dueMs = startedMs + (++event / plan.eventsPerSecond) * 1000
    ) {
      await Bun.sleep(Math.max(0, dueMs - performance.now()));
      await Promise.all(plan.urls.map((url) => post(url, dueMs)));
    }
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return {
    requests: sorted.length,
    perSecond: (sorted.length / tookMs) * 1000,
    cpuUs: (user + system) / sorted.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

answerParent({ run });

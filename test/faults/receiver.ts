// What a plugin asks, as it looks from outside: a real receiver that counts the requests of each Idempotency-Key and answers each of them
// differently, so that whose answer was used can be seen.

/** By Idempotency-Key. */
export type ReceivedCounts = ReadonlyMap<string, { readonly issue: string; readonly times: number }>;

export interface Receiver {
  readonly origin: string;
  /** What it was sent until now. */
  received(): ReceivedCounts;
  /** Forgets everything but that. */
  goOnFrom(received: ReceivedCounts): void;
  /** What it answered last for an issue. */
  lastAnswer(issue: string): string | undefined;
  stop(): Promise<void>;
}

const answerOf = (issue: string, times: number): string => `${issue} was asked about, ${times}`;

export function createReceiver(): Receiver {
  let all = new Map<string, { issue: string; times: number }>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const issue = await request.text();
      const key = request.headers.get('idempotency-key') ?? `none for ${issue}`;
      const times = (all.get(key)?.times ?? 0) + 1;
      all.set(key, { issue, times });
      return new Response(answerOf(issue, times));
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    received: () => new Map(all),
    goOnFrom: (received) => void (all = new Map(received)),
    lastAnswer(issue) {
      const [request] = [...all.values()].filter((one) => one.issue === issue);
      return request && answerOf(issue, request.times);
    },
    stop: () => server.stop(true),
  };
}

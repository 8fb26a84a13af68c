// Real receiver of plugin requests that counts the requests of each Idempotency-Key and answers each differently, so
// that the used response can be identified.

/** Requests by Idempotency-Key. */
export type ReceivedCounts = ReadonlyMap<string, { readonly issue: string; readonly times: number }>;

export interface Receiver {
  readonly origin: string;
  /** Requests received so far. */
  received(): ReceivedCounts;
  /** Resets the state to the given requests. */
  goOnFrom(received: ReceivedCounts): void;
  /** Last response for an issue. */
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

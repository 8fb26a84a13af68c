// Load generator: closed loops over keep-alive connections, or a steady rate, planned over IPC. It runs in a
// separate process so that no server under load shares a process with the measurement.
import { answerParent } from '../children.ts';
import { cpuMs } from '../processes.ts';
import { connect, requestBytes, type Connection } from './connection.ts';

export interface LoadPlan {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  /** Requests that are sent round-robin. */
  readonly requests: readonly { readonly path: string; readonly body?: string }[];
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly durationMs?: number;
  /** Number of requests after which the load ends, instead of a duration. */
  readonly count?: number;
  /** Steady rate instead of a closed loop; latency then counts from the time the request was due. */
  readonly perSecond?: number;
  /** Process id of the server, to read its CPU time. */
  readonly pid: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly refused: number;
  readonly tookMs: number;
  readonly perSecond: number;
  /** CPU time of all threads of the server per request. */
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

async function run(plan: LoadPlan): Promise<LoadResult> {
  const requests = plan.requests.map((request) =>
    requestBytes(plan.url, { ...request, method: plan.method, headers: plan.headers }),
  );
  const connections = await Promise.all(Array.from({ length: plan.connections }, () => connect(plan.url)));
  const latencies: number[] = [];
  let refused = 0;
  let sent = 0;
  const sendOne = async (connection: Connection, dueMs: number): Promise<void> => {
    const { status } = await connection.send(requests[sent++ % requests.length]!);
    latencies.push(performance.now() - dueMs);
    if (status >= 300) refused++;
  };
  const cpuBefore = cpuMs(plan.pid);
  const startedMs = performance.now();
  const endsMs = startedMs + (plan.durationMs ?? Infinity);
  const count = plan.count ?? Infinity;
  const closedLoop = async (connection: Connection): Promise<void> => {
    for (let now = performance.now(); now < endsMs && sent < count; now = performance.now())
      await sendOne(connection, now);
  };
  if (plan.perSecond === undefined) await Promise.all(connections.map(closedLoop));
  else await steady(connections, plan.perSecond, startedMs, endsMs, sendOne);
  const tookMs = performance.now() - startedMs;
  const cpu = cpuMs(plan.pid) - cpuBefore;
  for (const connection of connections) connection.close();
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    requests: latencies.length,
    refused,
    tookMs,
    perSecond: (latencies.length / tookMs) * 1000,
    cpuUs: (cpu / latencies.length) * 1000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
  };
}

/**
 * Sends requests at even intervals. A request that finds no idle connection waits, and the latency includes
 * the wait.
 */
function steady(
  connections: readonly Connection[],
  perSecond: number,
  startedMs: number,
  endsMs: number,
  sendOne: (connection: Connection, dueMs: number) => Promise<void>,
): Promise<void> {
  const idle = [...connections];
  const due: number[] = [];
  let planned = 0;
  let open = 0;
  return new Promise((resolve, reject) => {
    const go = (): void => {
      while (due.length > 0 && idle.length > 0) {
        const connection = idle.pop()!;
        open++;
        sendOne(connection, due.shift()!).then(() => {
          open--;
          idle.push(connection);
          go();
        }, reject);
      }
      if (performance.now() >= endsMs && open === 0 && due.length === 0) {
        clearInterval(timer);
        resolve();
      }
    };
    const timer = setInterval(() => {
      const now = Math.min(performance.now(), endsMs);
      for (; startedMs + (planned / perSecond) * 1000 < now; planned++)
        due.push(startedMs + (planned / perSecond) * 1000);
      go();
    }, 1);
  });
}

answerParent({ run });

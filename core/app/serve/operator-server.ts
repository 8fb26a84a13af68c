// Admin RPC over a Unix socket in the data directory, which only the user of the server can reach. `tatami keys` and `tatami
// members` use it while the server runs, so that only one process writes.
import { chmodSync, rmSync } from 'node:fs';
import { compileCheck } from '../../kernel/http/request/validate.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { parseJson } from '../../platform/lib/json/json.ts';
import type { Log } from '../../platform/lib/log.ts';
import {
  operatorRpcSchemas,
  type RpcRequest,
  type OperatorRpc,
  type RpcMethod,
  operatorSocketOf,
} from '../setup/rpc-schemas.ts';
import { StoreError } from '../../platform/store/store.ts';

const orderBytesMax = 64 * 1024;

export interface OperatorServer {
  stop(): Promise<void>;
}

/** If the socket cannot be created, the server runs without it and logs a warning. */
export function openOperatorServer(dataDir: string, rpc: OperatorRpc, log: Log): OperatorServer {
  const path = operatorSocketOf(dataDir);
  const work = workOf(rpc);
  try {
    // A killed process may have left the socket file. No other process uses it, because this process holds
    // the lock of the directory.
    rmSync(path, { force: true });
    const server = Bun.serve({
      unix: path,
      maxRequestBodySize: orderBytesMax,
      fetch: (request) => answer(work, request, log),
    });
    // The directory is already closed to other users.
    chmodSync(path, 0o600);
    return { stop: () => server.stop() };
  } catch (error) {
    log(
      'warn',
      'operator socket unavailable: `tatami keys`, `tatami members reset` and `tatami members invite --data-dir` need the server to be stopped',
      {
        error: errorForLog(error),
      },
    );
    return { stop: () => Promise.resolve() };
  }
}

type RpcHandlers = Readonly<Record<string, (order: unknown) => Promise<unknown>>>;

function workOf(rpc: OperatorRpc): RpcHandlers {
  const checked = <N extends RpcMethod>(name: N) => {
    const check = compileCheck(operatorRpcSchemas[name]);
    return async (order: unknown): Promise<unknown> => {
      check(order);
      return rpc[name](order as RpcRequest<N>);
    };
  };
  return {
    create: checked('create'),
    list: checked('list'),
    revoke: checked('revoke'),
    roll: checked('roll'),
    invite: checked('invite'),
    reset: checked('reset'),
  };
}

async function answer(work: RpcHandlers, request: Request, log: Log): Promise<Response> {
  try {
    const name = new URL(request.url).pathname.replace('/orders/', '');
    const order = request.method === 'POST' && Object.hasOwn(work, name) ? work[name] : undefined;
    if (!order) throw new ApiError('not_found', 'The server runs another version. Restart it.');
    return Response.json({ answer: await order(parseJson(await request.text())) });
  } catch (error) {
    return refusal(error, log);
  }
}

function refusal(error: unknown, log: Log): Response {
  const isOurs = error instanceof ApiError || error instanceof StoreError;
  if (!isOurs) log('error', 'an operator request failed', { error: errorForLog(error) });
  const message = isOurs ? error.message : 'Internal error. See the server log.';
  return Response.json({ error: { message } }, { status: error instanceof ApiError ? error.status : 503 });
}

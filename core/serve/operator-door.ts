// The door for whoever has the data directory of a running server: a socket in it, which only its user can reach, as only that user can
// read the rest. So `tatami keys` and `tatami members` need not stop the server, and the process that writes stays the only one.
import { chmodSync, rmSync } from 'node:fs';
import { compileCheck } from '../http/validate.ts';
import { ApiError } from '../lib/errors.ts';
import { errorForLog } from '../lib/failures.ts';
import { parseJson } from '../lib/json.ts';
import type { Log } from '../lib/log.ts';
import { operatorOrders, type Order, type OperatorDesk, type OrderName } from '../setup/orders.ts';
import { operatorSocketOf } from '../setup/keys/socket.ts';
import { StoreError } from '../store/store.ts';

const orderBytesMax = 64 * 1024;

export interface OperatorDoor {
  stop(): Promise<void>;
}

/** A server whose directory takes no socket runs without this door, and says so. */
export function openOperatorDoor(dataDir: string, desk: OperatorDesk, log: Log): OperatorDoor {
  const path = operatorSocketOf(dataDir);
  const work = workOf(desk);
  try {
    // Left by a process that was killed: we hold the lock of the directory.
    rmSync(path, { force: true });
    const server = Bun.serve({
      unix: path,
      maxRequestBodySize: orderBytesMax,
      fetch: (request) => answer(work, request, log),
    });
    // The directory is closed to others already.
    chmodSync(path, 0o600);
    return { stop: () => server.stop() };
  } catch (error) {
    log(
      'warn',
      'there is no door for the operator: `tatami keys` and `tatami members` work while the server is stopped',
      {
        error: errorForLog(error),
      },
    );
    return { stop: () => Promise.resolve() };
  }
}

type Work = Readonly<Record<string, (order: unknown) => Promise<unknown>>>;

function workOf(desk: OperatorDesk): Work {
  const checked = <N extends OrderName>(name: N) => {
    const check = compileCheck(operatorOrders[name]);
    return async (order: unknown): Promise<unknown> => {
      check(order);
      return desk[name](order as Order<N>);
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

async function answer(work: Work, request: Request, log: Log): Promise<Response> {
  try {
    const name = new URL(request.url).pathname.replace('/orders/', '');
    const order = request.method === 'POST' && Object.hasOwn(work, name) ? work[name] : undefined;
    if (!order) throw new ApiError('not_found', 'The server is of another version. Restart it.');
    return Response.json({ answer: await order(parseJson(await request.text())) });
  } catch (error) {
    return refusal(error, log);
  }
}

function refusal(error: unknown, log: Log): Response {
  const isOurs = error instanceof ApiError || error instanceof StoreError;
  if (!isOurs) log('error', 'an order of the operator failed', { error: errorForLog(error) });
  const message = isOurs ? error.message : 'Something broke in the server; its log says what.';
  return Response.json({ error: { message } }, { status: error instanceof ApiError ? error.status : 503 });
}

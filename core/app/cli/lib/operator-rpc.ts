// Sends an operator RPC to the server that has the data directory open, through its socket, or executes it in this process if no server
// runs. Arguments and results are the same.
import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { addressOf } from '../../config/config.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { openOfflineRpc, type OfflineRpc } from '../../setup/offline.ts';
import {
  type RpcResponses,
  type RpcRequest,
  type RpcMethod,
  operatorSocketOf,
} from '../../setup/rpc-schemas.ts';
import { holderOf } from '../../../platform/store/files/data-dir.ts';
import { requireOwner } from '../../../platform/store/files/private.ts';
import { localConfig, requireDatabase, type LocalOptions } from './local.ts';
import { CommandError, exitCodes, say } from './output.ts';

/** A starting server holds the directory before it listens. */
const openWithinMs = 15_000;
const lookEveryMs = 100;
const answerWithinMs = 60_000;

/** @param folder where a relative data directory begins. @throws CommandError */
export async function callOperatorRpc<N extends RpcMethod>(
  options: LocalOptions,
  folder: string,
  name: N,
  order: RpcRequest<N>,
): Promise<RpcResponses[N]> {
  const config = localConfig(options, folder);
  const { dataDir } = config;
  // Root reaches the server of another user by its socket, and leaves no file there.
  if (process.geteuid?.() !== 0) requireOwner(dataDir);
  requireDatabase(dataDir);
  const startMs = performance.now();
  for (let isSaid = false; ; await Bun.sleep(lookEveryMs)) {
    const answered = await askServer(dataDir, name, order);
    if (answered) return answered.answer;
    const here = openHere(dataDir, addressOf(config));
    if (here) return askHere(here, name, order);
    const holder = holderOf(dataDir) ?? 'another';
    if (performance.now() - startMs > openWithinMs)
      throw new CommandError(
        `Process ${holder} uses ${dataDir} and accepts no commands. Stop it and run this command again.`,
        exitCodes.tryLater,
      );
    if (!isSaid) say(`Process ${holder} uses ${dataDir}. Waiting until it accepts commands.`);
    isSaid = true;
  }
}

/** Null where another process holds the directory. */
function openHere(dataDir: string, baseUrl: string): OfflineRpc | null {
  if (holderOf(dataDir) !== null) return null;
  try {
    return openOfflineRpc(dataDir, baseUrl, systemClock.nowMs);
  } catch (error) {
    // A server that was started just now was faster.
    if (holderOf(dataDir) !== null) return null;
    throw error;
  }
}

async function askHere<N extends RpcMethod>(
  { rpc, close }: OfflineRpc,
  name: N,
  order: RpcRequest<N>,
): Promise<RpcResponses[N]> {
  try {
    return await rpc[name](order);
  } catch (error) {
    throw error instanceof ApiError
      ? new CommandError(error.message, exitCodes.failed, { cause: error })
      : error;
  } finally {
    await close();
  }
}

/** Null where no server listens. */
async function askServer<N extends RpcMethod>(
  dataDir: string,
  name: N,
  order: RpcRequest<N>,
): Promise<{ answer: RpcResponses[N] } | null> {
  const response = await knock(operatorSocketOf(dataDir), name, order);
  if (!response) return null;
  const said = (await response.json()) as { answer?: RpcResponses[N]; error?: { message: string } };
  if (said.answer !== undefined) return { answer: said.answer };
  throw new CommandError(
    said.error?.message ?? `The server answered ${response.status}. See the log of the server.`,
  );
}

async function knock(unix: string, name: string, order: unknown): Promise<Response | null> {
  const socket = lstatSync(unix, { throwIfNoEntry: false });
  if (!socket) return null;
  if (!socket.isSocket() || socket.uid !== statSync(dirname(unix)).uid)
    throw new CommandError(
      `${unix} is not the socket of the server, but a link, a file, or a socket of another user. Remove it, and restart the server if it runs.`,
    );
  try {
    return await fetch(`http://operator/orders/${name}`, {
      unix,
      method: 'POST',
      body: JSON.stringify(order),
      signal: AbortSignal.timeout(answerWithinMs),
    });
  } catch (error) {
    // Left by a process that was killed, or closed just now.
    if (error instanceof Error && 'code' in error && notReached.has(String(error.code))) return null;
    throw new CommandError(
      'The server stopped before it answered, so the result is unknown. Check the keys with `tatami keys list`.',
      exitCodes.tryLater,
      { cause: error },
    );
  }
}

const notReached: ReadonlySet<string> = new Set([
  'ENOENT',
  'ECONNREFUSED',
  'FailedToOpenSocket',
  'ConnectionRefused',
]);

/**
 * One HTTP/1.1 exchange with one address: connect, send, read the answer up to a cap, each step bounded in time. Redirects
 * are answers like any other, and bodies are handed over as they came (a compressed one is never unpacked).
 */
import http from 'node:http';
import https from 'node:https';
import type { Pool } from './dial.ts';
import { EgressError } from './error.ts';
import type { Target } from './target.ts';

export interface Exchange {
  target: Target;
  /** The checked address, and the only one this exchange may reach. */
  address: string;
  method: string;
  headers: Record<string, string>;
  body: Uint8Array;
  connectTimeoutMs: number;
  responseBytesMax: number;
  /** Ends the exchange; its reason is the EgressError to throw. */
  signal: AbortSignal;
}

export interface Answer {
  status: number;
  /** Lower-case names; repeated ones joined with a comma. */
  headers: Record<string, string>;
  body: Uint8Array;
  /** The body was longer than the cap: the rest was not read and the connection closed. */
  truncated: boolean;
}

export type StartTimer = (fire: () => void, afterMs: number) => () => void;

const RESPONSE_HEADER_BYTES_MAX = 16 * 1024;
const TLS_ERROR =
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_OSSL|EPROTO|HOSTNAME_MISMATCH)/;

/** @throws EgressError (by rejection) connect, tls, timeout, protocol, or what the signal carries. */
export function exchange(pool: Pool, startTimer: StartTimer, input: Exchange): Promise<Answer> {
  const { target } = input;
  return new Promise((resolve, reject) => {
    const request = (target.secure ? https : http).request({
      agent: pool.agentFor(target.secure),
      host: input.address,
      port: target.port,
      method: input.method,
      path: target.path,
      headers: input.headers,
      maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
      // A literal address is no TLS server name (RFC 6066 §3); it is then verified as an address.
      servername: target.isLiteral ? '' : target.host,
    });
    let connected = false;
    const stopConnectTimer = startTimer(
      () => fail(new EgressError('timeout', `No connection within ${input.connectTimeoutMs} ms.`)),
      input.connectTimeoutMs,
    );
    const onAbort = (): void => fail(asSent(input.signal.reason, connected));
    const settle = (): void => {
      stopConnectTimer();
      input.signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: EgressError): void => {
      settle();
      reject(error);
      request.destroy();
    };
    const onConnected = (): void => {
      connected = true;
      stopConnectTimer();
    };
    if (input.signal.aborted) return onAbort();
    input.signal.addEventListener('abort', onAbort);
    request.once('socket', (socket) => {
      if (request.reusedSocket) onConnected();
      else socket.once(target.secure ? 'secureConnect' : 'connect', onConnected);
    });
    // Stays attached: destroying the request may raise one more error.
    request.on('error', (error) => fail(translate(error, connected)));
    // Without a listener a 101 would hand us a raw socket nobody reads.
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      fail(
        new EgressError('protocol', 'The receiver switched protocols instead of answering.', { sent: true }),
      );
    });
    request.once('response', (response) => {
      readBody(response, input.responseBytesMax).then(
        ({ body, truncated }) => {
          settle();
          resolve({ status: response.statusCode ?? 0, headers: flatten(response.headers), body, truncated });
        },
        (error: unknown) => fail(translate(error, true)),
      );
    });
    // As latin1 text the same bytes share one write with the header; as a buffer they cost a second one.
    request.end(Buffer.from(input.body).toString('latin1'), 'latin1');
  });
}

function readBody(
  response: http.IncomingMessage,
  bytesMax: number,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      const room = bytesMax - bytes;
      bytes += chunk.byteLength;
      if (room > 0) chunks.push(chunk.subarray(0, room));
      if (chunk.byteLength <= room) return;
      resolve({ body: Buffer.concat(chunks), truncated: true });
      response.destroy();
    });
    response.once('end', () => resolve({ body: Buffer.concat(chunks), truncated: false }));
    response.on('error', reject);
    response.once('aborted', () =>
      reject(new Error('the connection was closed before the response was complete')),
    );
  });
}

function flatten(headers: http.IncomingHttpHeaders): Record<string, string> {
  const flat: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function translate(error: unknown, connected: boolean): EgressError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = error instanceof Error ? error.message : String(error);
  const options = { sent: connected, cause: error };
  if (code.startsWith('HPE_')) {
    return new EgressError('protocol', `The receiver's answer is not HTTP/1.1: ${reason}.`, options);
  }
  if (TLS_ERROR.test(code)) return new EgressError('tls', `TLS failed: ${reason}`, options);
  const what = connected ? 'The connection broke before a whole answer came' : 'The connection failed';
  return new EgressError('connect', `${what}: ${reason}.`, options);
}

function asSent(reason: unknown, sent: boolean): EgressError {
  if (!(reason instanceof EgressError))
    return new EgressError('aborted', 'The request was cancelled.', { sent });
  return new EgressError(reason.code, reason.message, { sent, cause: reason.cause });
}

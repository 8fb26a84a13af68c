/**
 * One HTTP/1.1 exchange with one address: connect, send, read the response up to a cap, each step with a time limit. Redirects are
 * ordinary responses, and bodies are returned as received (compressed ones are never decompressed).
 */
import { SwitchedProtocols, type RawResponse } from './answer-reader.ts';
import type { Pool } from './pool.ts';
import type { ExchangeEnding } from './ending.ts';
import { EgressError } from './error.ts';
import type { Target } from './target.ts';

export interface EgressExchange {
  target: Target;
  /** The checked address, the only one this exchange may reach. */
  address: string;
  isHead: boolean;
  /** The complete request as sent. */
  bytes: Uint8Array;
  connectTimeoutMs: number;
  responseBytesMax: number;
  /** May end the exchange before its response. */
  ending: ExchangeEnding;
}

export type StartTimer = (fire: () => void, afterMs: number) => () => void;

const TLS_ERROR =
  /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_OSSL|EPROTO|HOSTNAME_MISMATCH)/;
const nothing = (): void => {};

/** @throws EgressError (by rejection) connect, tls, timeout, protocol, or the reason of the early end */
export function exchange(pool: Pool, startTimer: StartTimer, input: EgressExchange): Promise<RawResponse> {
  const { ending, connectTimeoutMs } = input;
  return new Promise((resolve, reject) => {
    if (ending.reason) return reject(ending.reason);
    const connection = pool.take(input.target, input.address);
    let connected = connection.isConnected;
    const fail = (error: EgressError): void => {
      stopConnectTimer();
      ending.listener = null;
      reject(error);
      connection.destroy();
    };
    const stopConnectTimer = connected
      ? nothing
      : startTimer(
          () =>
            fail(
              new EgressError(
                'timeout',
                `The receiver accepted no connection within ${connectTimeoutMs} ms. Check that it is reachable.`,
              ),
            ),
          connectTimeoutMs,
        );
    ending.listener = (reason) => fail(asSent(reason, connected));
    const expected = { isHead: input.isHead, bodyBytesMax: input.responseBytesMax };
    connection.send(input.bytes, expected, {
      connected() {
        connected = true;
        stopConnectTimer();
      },
      answered(answer) {
        ending.listener = null;
        resolve(answer);
      },
      failed: (error) => fail(translate(error, connected)),
    });
  });
}

/** Resolves once bytes could be sent, then closes the connection without sending any. @throws EgressError (by rejection) */
export function connected(
  pool: Pool,
  target: Target,
  address: string,
  ending: ExchangeEnding,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = pool.take(target, address);
    const end = (settle: () => void): void => {
      ending.listener = null;
      settle();
      connection.destroy();
    };
    ending.listener = (reason) => end(() => reject(reason));
    if (connection.isConnected) return end(resolve);
    connection.send(
      new Uint8Array(0),
      { isHead: true, bodyBytesMax: 0 },
      {
        connected: () => end(resolve),
        answered: () => end(resolve),
        failed: (error) => end(() => reject(translate(error, false))),
      },
    );
  });
}

function translate(error: unknown, connected: boolean): EgressError {
  if (error instanceof SwitchedProtocols)
    return new EgressError(
      'protocol',
      'The receiver switched protocols instead of responding. Make it respond with HTTP/1.1.',
      {
        sent: true,
        cause: error,
      },
    );
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = error instanceof Error ? error.message : String(error);
  const options = { sent: connected, cause: error };
  if (code.startsWith('HPE_')) {
    return new EgressError(
      'protocol',
      `The receiver's response is not HTTP/1.1: ${reason}. Check the URL.`,
      options,
    );
  }
  if (TLS_ERROR.test(code))
    return new EgressError(
      'tls',
      `TLS failed: ${tlsReason(reason)}. Check the certificate and the TLS settings of the receiver.`,
      options,
    );
  const what = connected ? 'The connection broke before the response was complete' : 'The connection failed';
  return new EgressError(
    'connect',
    `${what}: ${reason}. Check that the receiver is running and reachable.`,
    options,
  );
}

/** Makes OpenSSL's error names readable: `error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER`. */
function tlsReason(reason: string): string {
  const name = /^error:[^:]*:[^:]*:[^:]*:([A-Z0-9_]+)/.exec(reason)?.[1];
  return name === undefined ? reason.replace(/\.$/, '') : name.replaceAll('_', ' ').toLowerCase();
}

function asSent(reason: EgressError, sent: boolean): EgressError {
  return new EgressError(reason.code, reason.message, { sent, cause: reason.cause });
}

/**
 * One HTTP/1.1 connection for one request at a time. It writes nothing before the socket is connected (and verified if TLS), and is
 * returned for reuse only after one complete response with nothing after it.
 */
import type net from 'node:net';
import { AnswerReader, type RawResponse, type Expected } from './answer-reader.ts';

/** Receiver of the response. Either `answered` or `failed` is called, at most once. */
export interface Waiting {
  connected(): void;
  answered(answer: RawResponse): void;
  failed(error: unknown): void;
}

export interface ConnectionOwner {
  /** Called when the connection can take the next request. */
  idle(connection: EgressConnection): void;
  /** Called when the connection can take no more requests. */
  gone(connection: EgressConnection): void;
}

export class EgressConnection {
  idleSinceMs = 0;
  readonly #socket: net.Socket;
  readonly #owner: ConnectionOwner;
  readonly #reader = new AnswerReader();
  #waiting: Waiting | null = null;
  #unsent: Uint8Array | null = null;
  #connected = false;
  #closed = false;

  /** @param ready event of the socket after which bytes may be written */
  constructor(socket: net.Socket, ready: 'connect' | 'secureConnect', owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.setNoDelay(true);
    socket.once(ready, () => this.#onConnected());
    socket.on('data', (chunk: Buffer) => this.#receive(() => this.#reader.read(chunk)));
    socket.once('end', () => this.#receive(() => this.#reader.end()));
    // The listener stays attached, because a destroyed socket may emit one more error.
    socket.on('error', (error) => this.#fail(error));
    socket.once('close', () => this.#fail(new Error('it was closed')));
  }

  get isConnected(): boolean {
    return this.#connected;
  }

  send(request: Uint8Array, expected: Expected, waiting: Waiting): void {
    this.#waiting = waiting;
    this.#reader.expect(expected);
    if (this.#connected) this.#socket.write(request);
    else this.#unsent = request;
  }

  /** Closes the connection without failing the pending request. */
  destroy(): void {
    this.#waiting = null;
    this.#close();
  }

  /** Closes the connection and fails the pending request. */
  abort(): void {
    this.#fail(new Error('it was closed here'));
  }

  #onConnected(): void {
    // The check of the remote address may have destroyed the socket.
    if (this.#closed || this.#socket.destroyed) return;
    this.#connected = true;
    this.#waiting?.connected();
    const request = this.#unsent;
    this.#unsent = null;
    if (request) this.#socket.write(request);
  }

  #receive(read: () => RawResponse | null): void {
    if (this.#closed) return;
    // Unrequested bytes could be taken for the response to the next request.
    if (!this.#waiting) return this.#close();
    let answer: RawResponse | null;
    try {
      answer = read();
    } catch (error) {
      return this.#fail(error);
    }
    if (!answer) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    if (this.#reader.isReusable) this.#owner.idle(this);
    else this.#close();
    waiting.answered(answer);
  }

  #fail(error: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#close();
    waiting?.failed(error);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#reader.close();
    this.#socket.destroy();
    this.#owner.gone(this);
  }
}

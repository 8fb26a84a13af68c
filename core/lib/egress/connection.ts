/**
 * One HTTP/1.1 connection, one request at a time. It writes nothing before the socket is connected (and, where there is TLS,
 * verified), and is given back for reuse only after one whole answer with nothing behind it.
 */
import type net from 'node:net';
import { AnswerReader, type Answer, type Expected } from './answer-reader.ts';

/** Whoever waits for the answer. Either `answered` or `failed` is called, at most once. */
export interface Waiting {
  connected(): void;
  answered(answer: Answer): void;
  failed(error: unknown): void;
}

export interface ConnectionOwner {
  /** It can take the next request. */
  idle(connection: Connection): void;
  /** It can take none any more. */
  gone(connection: Connection): void;
}

export class Connection {
  idleSinceMs = 0;
  readonly #socket: net.Socket;
  readonly #owner: ConnectionOwner;
  readonly #reader = new AnswerReader();
  #waiting: Waiting | null = null;
  #unsent: Uint8Array | null = null;
  #connected = false;
  #closed = false;

  /** @param ready the socket's event after which bytes may be written */
  constructor(socket: net.Socket, ready: 'connect' | 'secureConnect', owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.setNoDelay(true);
    socket.once(ready, () => this.#onConnected());
    socket.on('data', (chunk: Buffer) => this.#receive(() => this.#reader.read(chunk)));
    socket.once('end', () => this.#receive(() => this.#reader.end()));
    // Stays attached: a socket that is destroyed may raise one more error.
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

  /** Ends the connection; whoever waits is told nothing. */
  destroy(): void {
    this.#waiting = null;
    this.#close();
  }

  /** Ends the connection; for whoever waits it has failed. */
  abort(): void {
    this.#fail(new Error('it was closed here'));
  }

  #onConnected(): void {
    // Whoever checks where a socket ended up may have ended it.
    if (this.#closed || this.#socket.destroyed) return;
    this.#connected = true;
    this.#waiting?.connected();
    const request = this.#unsent;
    this.#unsent = null;
    if (request) this.#socket.write(request);
  }

  #receive(read: () => Answer | null): void {
    if (this.#closed) return;
    // The server was not asked anything: what it says now could be taken for the answer to the next request.
    if (!this.#waiting) return this.#close();
    let answer: Answer | null;
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

/**
 * Reads the answers of one connection, one after the other, with the parser that Node's own http uses (llhttp, strict). Node's
 * client around that parser costs three times what a whole delivery may. Headers are bounded by 16 KiB, the body by a cap.
 */
import { HTTPParser } from 'node:_http_common';

export interface Answer {
  status: number;
  /** Lower-case names; repeated ones joined with a comma. */
  headers: Record<string, string>;
  body: Uint8Array;
  /** The body was longer than the cap: the rest was not read and the connection closed. */
  truncated: boolean;
}

export interface Expected {
  isHead: boolean;
  bodyBytesMax: number;
}

const HEADER_BYTES_MAX = 16 * 1024;
/** Interim answers (1xx) before the real one; a server that sends more of them is not going to answer. */
const INTERIM_ANSWERS_MAX = 20;
const STRICT = 0;
/** What its callback tells the parser when headers are complete. */
const READ_BODY = 0;
const NO_BODY = 1;
const NOT_HTTP_ANY_MORE = 2;
/** A server that closes idle connections after so few seconds may be closing one as we write. */
const KEPT_TOO_SHORT = /\btimeout=[01]\b/i;

export class SwitchedProtocols extends Error {}

export class AnswerReader {
  readonly #parser = new HTTPParser();
  #expected: Expected | null = null;
  #status = 0;
  #fields: string[] = [];
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #interim = false;
  #interims = 0;
  #switched = false;
  #done = false;
  #reusable = true;

  constructor() {
    const parser = this.#parser;
    parser.initialize(HTTPParser.RESPONSE, {}, HEADER_BYTES_MAX, STRICT);
    parser[HTTPParser.kOnMessageBegin] = () => {
      if (this.#done) this.#reusable = false;
    };
    // Called ahead of `kOnHeadersComplete` when there are many headers, and for trailers, which nobody reads.
    parser[HTTPParser.kOnHeaders] = (fields: string[]) => {
      if (this.#status === 0) this.#fields.push(...fields);
    };
    parser[HTTPParser.kOnHeadersComplete] = this.#onHeaders.bind(this);
    parser[HTTPParser.kOnBody] = this.#onBody.bind(this);
    parser[HTTPParser.kOnMessageComplete] = () => {
      if (this.#interim) this.#interim = false;
      else this.#done = true;
    };
  }

  /** Whether another request may follow on the connection. */
  get isReusable(): boolean {
    return this.#reusable;
  }

  /** A request goes out: its answer is next. */
  expect(expected: Expected): void {
    this.#expected = expected;
    this.#status = 0;
    this.#fields = [];
    this.#chunks = [];
    this.#bytes = 0;
    this.#interims = 0;
    this.#done = false;
  }

  /** The answer once it is whole or over its cap. @throws Error what the parser says, SwitchedProtocols */
  read(chunk: Uint8Array): Answer | null {
    return this.#answerAfter(this.#parser.execute(chunk));
  }

  /** The peer will send no more; that ends a body without a length. @throws Error in the middle of an answer */
  end(): Answer | null {
    this.#reusable = false;
    const isCut = this.#parser.finish() instanceof Error;
    return this.#answerAfter(isCut ? new Error('it was closed before the answer was whole') : 0);
  }

  close(): void {
    this.#parser.close();
  }

  #onHeaders(
    _major: number,
    _minor: number,
    fields: string[] | undefined,
    _method: unknown,
    _url: unknown,
    status: number,
    _text: string,
    upgrade: boolean,
    keepAlive: boolean,
  ): number {
    if (this.#done || !this.#expected) return NO_BODY;
    if (upgrade || status === 101) {
      this.#switched = true;
      return NOT_HTTP_ANY_MORE;
    }
    if (status < 200) {
      this.#interim = true;
      this.#interims++;
      this.#fields = [];
      return NO_BODY;
    }
    this.#status = status;
    if (fields) this.#fields.push(...fields);
    if (!keepAlive) this.#reusable = false;
    return this.#expected.isHead ? NO_BODY : READ_BODY;
  }

  #onBody(chunk: Uint8Array): void {
    if (this.#done || !this.#expected) return;
    const room = this.#expected.bodyBytesMax - this.#bytes;
    this.#bytes += chunk.byteLength;
    if (room > 0) this.#chunks.push(chunk.byteLength > room ? chunk.subarray(0, room) : chunk);
  }

  #answerAfter(result: number | Error): Answer | null {
    if (this.#switched) throw new SwitchedProtocols('switched protocols');
    if (this.#interims > INTERIM_ANSWERS_MAX) throw new Error('it sent interim answers without an end');
    const truncated = this.#expected !== null && this.#bytes > this.#expected.bodyBytesMax;
    if (truncated || result instanceof Error) this.#reusable = false;
    if (!this.#done && !truncated) {
      if (result instanceof Error) throw result;
      return null;
    }
    const headers = joined(this.#fields);
    if (KEPT_TOO_SHORT.test(headers['keep-alive'] ?? '')) this.#reusable = false;
    const body = Buffer.concat(this.#chunks);
    // An idle connection must not keep its last answer in memory.
    this.#fields = [];
    this.#chunks = [];
    return { status: this.#status, headers, body, truncated };
  }
}

/** @param fields names and values in turn */
function joined(fields: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i]!.toLowerCase();
    const before = headers[name];
    headers[name] = before === undefined ? fields[i + 1]! : `${before}, ${fields[i + 1]}`;
  }
  return headers;
}

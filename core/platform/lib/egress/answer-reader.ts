/**
 * Reads the responses on one connection in order, with the parser of Node's http module (llhttp, strict). Decision 0088
 * has the cost of Node's own client around that parser. Headers are limited to 16 KiB, the body by a cap.
 */
import { HTTPParser } from 'node:_http_common';

export interface RawResponse {
  status: number;
  /** Lower-case names; repeated ones joined with a comma. */
  headers: Record<string, string>;
  body: Uint8Array;
  /** True if the body exceeded the cap: the rest was not read and the connection was closed. */
  truncated: boolean;
}

export interface Expected {
  isHead: boolean;
  bodyBytesMax: number;
}

const HEADER_BYTES_MAX = 16 * 1024;
/** Maximum number of interim responses (1xx) before the final one. */
const INTERIM_ANSWERS_MAX = 20;
const STRICT = 0;
/** Return values of the `kOnHeadersComplete` callback. */
const READ_BODY = 0;
const NO_BODY = 1;
const NOT_HTTP_ANY_MORE = 2;
/** Matches a timeout of 0 or 1 s, after which the server may close the connection during the next write. */
const IDLE_TOO_SHORT = /\btimeout=[01]\b/i;

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
    // Called before `kOnHeadersComplete` if there are many headers, and for trailers, which are ignored.
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

  /** True if another request may follow on the connection. */
  get isReusable(): boolean {
    return this.#reusable;
  }

  /** Must be called before the first byte of each response is read. */
  expect(expected: Expected): void {
    this.#expected = expected;
    this.#status = 0;
    this.#fields = [];
    this.#chunks = [];
    this.#bytes = 0;
    this.#interims = 0;
    this.#done = false;
  }

  /** Returns the response once it is complete or over its cap. @throws Error of the parser, SwitchedProtocols */
  read(chunk: Uint8Array): RawResponse | null {
    return this.#answerAfter(this.#parser.execute(chunk));
  }

  /** Handles the end of the stream, which also ends a body without a length. @throws Error in the middle of a response */
  end(): RawResponse | null {
    this.#reusable = false;
    const isCut = this.#parser.finish() instanceof Error;
    return this.#answerAfter(isCut ? new Error('it was closed before the response was complete') : 0);
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
    const remaining = this.#expected.bodyBytesMax - this.#bytes;
    this.#bytes += chunk.byteLength;
    if (remaining > 0) this.#chunks.push(chunk.byteLength > remaining ? chunk.subarray(0, remaining) : chunk);
  }

  #answerAfter(result: number | Error): RawResponse | null {
    if (this.#switched) throw new SwitchedProtocols('switched protocols');
    if (this.#interims > INTERIM_ANSWERS_MAX) throw new Error('it sent too many interim responses');
    const truncated = this.#expected !== null && this.#bytes > this.#expected.bodyBytesMax;
    if (truncated || result instanceof Error) this.#reusable = false;
    if (!this.#done && !truncated) {
      if (result instanceof Error) throw result;
      return null;
    }
    const headers = joined(this.#fields);
    if (IDLE_TOO_SHORT.test(headers['keep-alive'] ?? '')) this.#reusable = false;
    const body = Buffer.concat(this.#chunks);
    // Frees the memory of the last response on an idle connection.
    this.#fields = [];
    this.#chunks = [];
    return { status: this.#status, headers, body, truncated };
  }
}

/** @param fields alternating names and values */
function joined(fields: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i]!.toLowerCase();
    const before = headers[name];
    headers[name] = before === undefined ? fields[i + 1]! : `${before}, ${fields[i + 1]}`;
  }
  return headers;
}

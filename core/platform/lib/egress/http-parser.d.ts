// The part of Node's HTTP parser (llhttp) that `answer-reader.ts` uses. Node and Bun export it, but their type packages lack it.
declare module 'node:_http_common' {
  export class HTTPParser {
    static readonly RESPONSE: number;
    static readonly kOnMessageBegin: number;
    static readonly kOnHeaders: number;
    static readonly kOnHeadersComplete: number;
    static readonly kOnBody: number;
    static readonly kOnMessageComplete: number;
    initialize(type: number, resource: object, headerBytesMax: number, lenient: number): void;
    /** Returns the number of bytes consumed, or an error whose `code` begins with `HPE_`. */
    execute(chunk: Uint8Array): number | Error;
    /** Signals the end of the stream. */
    finish(): Error | undefined;
    close(): void;
    [callback: number]: (...args: never[]) => number | void;
  }
}

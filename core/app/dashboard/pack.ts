// Format of the built web app: one JSON line that lists the files, followed by their compressed contents.
import { gunzipSync } from 'node:zlib';

/** Content encodings (RFC 9110 §8.4.1), in the order in which the server prefers them. */
const encodings = ['br', 'zstd', 'gzip'] as const;
type Encoding = (typeof encodings)[number];

export interface PackedFile {
  readonly name: string;
  readonly type: string;
  readonly encodings: Readonly<Record<Encoding, Uint8Array>>;
}

/** Names of the files that the page loads. */
export interface PackEntries {
  readonly script: string;
  readonly style: string;
  readonly worker: string;
  readonly markdownWorker: string;
}

export interface Pack {
  readonly entries: PackEntries;
  /** @returns null for an unknown name */
  file(name: string, acceptEncoding: string): EncodedFile | null;
}

export interface EncodedFile {
  readonly type: string;
  /** Null if the content is not compressed. */
  readonly encoding: Encoding | null;
  readonly content: Uint8Array<ArrayBuffer>;
}

interface Listed {
  readonly name: string;
  readonly type: string;
  /** Start and end of each encoding in the contents. */
  readonly at: Readonly<Record<Encoding, readonly [number, number]>>;
}

export function packFiles(files: readonly PackedFile[], entries: PackEntries): Uint8Array {
  const contents: Uint8Array[] = [];
  let length = 0;
  const listed = files.map(({ name, type, encodings: all }): Listed => {
    const place = (encoding: Encoding): [number, number] => {
      const start = length;
      contents.push(all[encoding]);
      length += all[encoding].length;
      return [start, length];
    };
    return { name, type, at: { br: place('br'), zstd: place('zstd'), gzip: place('gzip') } };
  });
  return Buffer.concat([Buffer.from(`${JSON.stringify({ entries, files: listed })}\n`), ...contents]);
}

export function readPack(bytes: Uint8Array<ArrayBuffer>): Pack {
  const end = bytes.indexOf(10);
  const { entries, files } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as {
    entries: PackEntries;
    files: readonly Listed[];
  };
  const byName = new Map(files.map((file) => [file.name, file]));
  return {
    entries,
    file(name, acceptEncoding) {
      const listed = byName.get(name);
      if (!listed) return null;
      const encoding = encodings.find((one) => accepts(acceptEncoding, one)) ?? null;
      const [start, stop] = listed.at[encoding ?? 'gzip'];
      const content = bytes.subarray(end + 1 + start, end + 1 + stop);
      return {
        type: listed.type,
        encoding,
        content: encoding ? content : new Uint8Array(gunzipSync(content)),
      };
    },
  };
}

/** Browsers list encodings without weights; a weight of 0 forbids one. */
function accepts(header: string, encoding: Encoding): boolean {
  return header.split(',').some((part) => {
    const [name, ...weights] = part.split(';').map((text) => text.trim().toLowerCase());
    return name === encoding && !weights.some((weight) => /^q=0(\.0*)?$/.test(weight));
  });
}

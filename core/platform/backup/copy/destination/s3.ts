// Stores a copy in an S3-compatible store. Only the operator configures its endpoint, so requests bypass the
// egress guard, which is for requests of tenants. docs/decisions/0025.
import { inTime } from '../../../lib/time/clock.ts';
import type { Destination } from './destination.ts';

/** Settings from the environment, which are never logged. */
export interface S3Settings {
  /** Endpoint URL; null for Amazon's endpoint of the region. */
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Timeout of a request to the store, which is retried later. */
const answerMs = 60_000;
const deletesAtOnce = 16;

/** @param where `s3://bucket/prefix` */
export function openS3(where: string, settings: S3Settings): Destination {
  const [bucket = '', ...folders] = where.slice('s3://'.length).split('/');
  const prefix = folders.filter((folder) => folder !== '').join('/');
  const root = prefix === '' ? '' : `${prefix}/`;
  const { endpoint, region, accessKeyId, secretAccessKey } = settings;
  const client = new Bun.S3Client({
    bucket,
    accessKeyId,
    secretAccessKey,
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
  });
  return {
    title: where,
    folder: null,
    put: async (name, bytes) => void (await answered(client.write(root + name, bytes))),
    get: async (name) => answered(client.file(root + name).bytes()),
    async list(wanted = '') {
      const names: string[] = [];
      for (let after: string | undefined; ;) {
        const page = await answered(
          client.list({ prefix: root + wanted, ...(after === undefined ? {} : { startAfter: after }) }),
        );
        const keys = page.contents?.map(({ key }) => key) ?? [];
        names.push(...keys.map((key) => key.slice(root.length)));
        after = keys.at(-1);
        if (!page.isTruncated || after === undefined) return names.sort();
      }
    },
    async delete(names) {
      for (let at = 0; at < names.length; at += deletesAtOnce)
        await Promise.all(
          names.slice(at, at + deletesAtOnce).map((name) => answered(client.delete(root + name))),
        );
    },
  };
}

/** `Bun.S3Client` has no timeout. */
const answered = <T>(work: Promise<T>): Promise<T> =>
  inTime(
    work,
    answerMs,
    () => new Error('The object store does not respond. Check its endpoint and the network.'),
  );

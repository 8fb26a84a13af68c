// What commands that talk to a server share: where it is, the key, and word of waits.
import { createCall, type Call } from '../../sdk/client/call.ts';
import { readRemote } from '../config.ts';
import { CommandError, exitCodes, say } from './output.ts';

export interface RemoteOptions {
  server?: string;
  token?: string;
  json?: boolean;
}

/** The server, and the key to it. @throws CommandError when there is no key */
export function remoteOf(options: RemoteOptions): { server: string; token: string; named: string | null } {
  const { token, ...remote } = readRemote(options);
  if (token === null)
    throw new CommandError('No key: give one with --token or TATAMI_TOKEN.', exitCodes.loginNeeded);
  return { ...remote, token };
}

/** Says where the key goes when it was not said on the command line. @throws CommandError when there is no key */
export function connect(options: RemoteOptions, note: (text: string) => void = say): Call {
  const { server, token, named } = remoteOf(options);
  if (named !== null) note(`Using the server ${server}, from ${named}.`);
  return createCall({
    server,
    token,
    onWait: (waitMs, reason) => note(`${reason.message} Trying again in ${Math.ceil(waitMs / 1000)} s.`),
  });
}

/** Every page of a list. @param path of it, also with a query */
export async function readAll<T>(call: Call, path: string): Promise<T[]> {
  const all: T[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: { data: T[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } = await call(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=100${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
    );
    all.push(...page.data);
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  }
  return all;
}

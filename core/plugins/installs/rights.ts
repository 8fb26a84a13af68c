// What steering or reading a plugin takes. A person who steers it acts with all that it was granted, and a person who reads its
// memory or its runs reads what it could read, so the routes to these need the plugin's own scopes as well. Stopping a plugin
// takes none of them. See docs/decisions/0015.
import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../context.ts';
import type { AlsoNeeded } from '../../http/route.ts';
import { effectTable } from '../../rights/effects.ts';
import { expandScopes } from '../../rights/scopes.ts';
import { ApiError } from '../../lib/errors.ts';
import { findRun } from '../runs/rows.ts';
import { getInstall } from './installs.ts';
import { installKind, type Install } from './schema.ts';

const all = ({ grant }: Pick<Install, 'grant'>): string[] => [...expandScopes(grant)];
const reads = (install: Pick<Install, 'grant'>): string[] =>
  all(install).filter((scope) => scope.endsWith(':read'));

async function foundOrNone(
  ctx: Context,
  ref: string,
  scopes: (install: Install) => string[],
): Promise<string[]> {
  try {
    return scopes(await getInstall(ctx, ref));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return [];
    throw error;
  }
}

/** For paths below `/plugins/{id}` that make the plugin do something, or write its memory. */
export const steering: AlsoNeeded = {
  words: 'all that the plugin was granted',
  scopes: (ctx, { params }) => foundOrNone(ctx, (params as { id: string }).id, all),
};

/** For those that show what it has seen. */
export const seeing: AlsoNeeded = {
  words: 'all reads that the plugin was granted',
  scopes: (ctx, { params }) => foundOrNone(ctx, (params as { id: string }).id, reads),
};

/** Whether code of a plugin may send requests to other servers. Secrets are sent only to hosts of the manifest. */
export function sendsOutside({ manifest: { net = [], secrets = {} } }: Pick<Install, 'manifest'>): boolean {
  return net.length > 0 || Object.keys(secrets).length > 0;
}

/** For calls that make a plugin act on behalf of the caller. */
export const sendingOutside: AlsoNeeded = {
  words: `${effectTable['outside-requests'].scope}, where the plugin may send requests to other servers`,
  scopes: (ctx, { params }) =>
    foundOrNone(ctx, (params as { id: string }).id, (install) =>
      sendsOutside(install) ? [effectTable['outside-requests'].scope] : [],
    ),
};

/** The same of a run, whose plugin may be gone. */
const ofRun = (words: string, scopes: (install: Install) => string[]): AlsoNeeded => ({
  words,
  async scopes(ctx, { params }) {
    const run = await findRun(ctx.store, ctx.scope, (params as { id: string }).id);
    const install = run && (await installKind.find(ctx, run.install_id));
    return install ? scopes(install) : [];
  },
});
export const seeingRun = ofRun(seeing.words, reads);
export const steeringRun = ofRun(steering.words, all);

/** A patch steers unless all it does is pause. */
export const updating: AlsoNeeded = {
  words: 'all that the plugin was granted, unless it only pauses it',
  scopes: (ctx, input) =>
    isDeepStrictEqual(input.body, { state: 'paused_by_admin' })
      ? Promise.resolve([])
      : steering.scopes(ctx, input),
};

/** Another version runs with the memory of the one before. */
export const upgrading: AlsoNeeded = {
  words: 'all that the version before was granted',
  scopes(ctx, { body }) {
    const { manifest } = (body as { package: { manifest?: { id?: unknown } } }).package;
    return typeof manifest?.id === 'string' ? foundOrNone(ctx, manifest.id, all) : Promise.resolve([]);
  },
};

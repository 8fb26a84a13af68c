// Scopes required to control or inspect a plugin. Controlling a plugin means acting with its grant, and its
// stored values and runs may hold anything that the plugin could read, so these routes also require the
// scopes granted to the plugin. Stopping a plugin requires none of them. See docs/decisions/0015.
import { Type } from 'typebox';
import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../../../kernel/context.ts';
import type { AlsoNeeded } from '../../../kernel/http/route.ts';
import { effectTable } from '../../../kernel/rights/effects.ts';
import { expandScopes } from '../../../kernel/rights/table.ts';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { findRun } from '../runs/rows.ts';
import { getRunner } from './installs.ts';
import type { Install } from './model.ts';
import { findInstall } from './rules.ts';

/** Path parameter that identifies a plugin. */
export const pluginRef = Type.String({
  pattern: '^[a-z][a-z0-9_.-]{0,99}$',
  description: "Id of the install (plg_…), or the plugin's id in its manifest.",
});

const all = ({ grant }: Install): string[] => [...expandScopes(grant)];
const reads = (install: Install): string[] => all(install).filter((scope) => scope.endsWith(':read'));

async function scopesOfInstall(
  ctx: Context,
  ref: string,
  scopes: (install: Install) => string[],
): Promise<string[]> {
  try {
    return scopes(await getRunner(ctx, ref));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return [];
    throw error;
  }
}

/** Requirement of routes that make the plugin act or that write its stored values. */
export const steering: AlsoNeeded = {
  words: 'all scopes granted to the plugin',
  scopes: (ctx, { params }) => scopesOfInstall(ctx, (params as { id: string }).id, all),
};

/** Requirement of routes that show data that the plugin has read. */
export const pluginVisibility: AlsoNeeded = {
  words: 'all read scopes granted to the plugin',
  scopes: (ctx, { params }) => scopesOfInstall(ctx, (params as { id: string }).id, reads),
};

/** True if the plugin can send requests to other servers. Secrets count, because they are sent to hosts of the manifest. */
export function sendsOutside({ manifest: { net = [], secrets = {} } }: Install): boolean {
  return net.length > 0 || Object.keys(secrets).length > 0;
}

/** Requirement of calls that make a plugin act for the caller. */
export const sendingOutside: AlsoNeeded = {
  words: `\`${effectTable['outside-requests'].scope}\`, if the plugin can send requests to other servers`,
  scopes: (ctx, { params }) =>
    scopesOfInstall(ctx, (params as { id: string }).id, (install) =>
      sendsOutside(install) ? [effectTable['outside-requests'].scope] : [],
    ),
};

/** Requires scopes of the plugin of a run, also if the plugin was removed since. */
const ofRun = (words: string, scopes: (install: Install) => string[]): AlsoNeeded => ({
  words,
  async scopes(ctx, { params }) {
    const run = await findRun(ctx.store, ctx.scope, (params as { id: string }).id);
    const install = run && (await findInstall(ctx, run.install_id));
    return install ? scopes(install) : [];
  },
});
export const runVisibility = ofRun(pluginVisibility.words, reads);
export const steeringRun = ofRun(steering.words, all);

/** A patch that only pauses the plugin requires none of its scopes. */
export const updating: AlsoNeeded = {
  words: 'all scopes granted to the plugin, unless the request only pauses it',
  scopes: (ctx, input) =>
    isDeepStrictEqual(input.body, { state: 'paused_by_admin' })
      ? Promise.resolve([])
      : steering.scopes(ctx, input),
};

/** A new version inherits the stored values of the previous one. */
export const upgrading: AlsoNeeded = {
  words: 'all scopes granted to the previous version',
  scopes(ctx, { body }) {
    const { manifest } = (body as { package: { manifest?: { id?: unknown } } }).package;
    return typeof manifest?.id === 'string' ? scopesOfInstall(ctx, manifest.id, all) : Promise.resolve([]);
  },
};

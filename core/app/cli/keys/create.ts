// `tatami keys create`: a new API key, also for whoever has none.
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { allScopes } from '../../../kernel/rights/table.ts';
import { timeAhead, usage } from '../lib/flags.ts';
import { printResult } from '../lib/output.ts';
import { callOperatorRpc, type LocalOptions } from './operator-rpc.ts';
import { createdKeyText } from './key-text.ts';

export interface CreateKeyOptions extends LocalOptions {
  workspace?: string;
  member?: string;
  name: string;
  scopes?: string;
  expires?: string;
}

/** @param folder where a relative data directory begins */
export async function create(options: CreateKeyOptions, folder: string): Promise<void> {
  const { workspace, member, name, expires } = options;
  if (name.trim() === '' || name.length > 80) throw usage('--name must have 1 to 80 characters.');
  const made = await callOperatorRpc(options, folder, 'create', {
    ...(workspace === undefined ? {} : { workspace }),
    ...(member === undefined ? {} : { member }),
    name,
    scopes: scopesOf(options.scopes),
    expiresAt: expires === undefined ? null : timeAhead('--expires', expires, systemClock.nowMs()),
  });
  printResult(made, options, (key) => `workspace ${key.workspaceId}\n${createdKeyText(key)}`);
}

/** @throws CommandError */
function scopesOf(list: string | undefined): string[] {
  if (list === undefined) return [...allScopes];
  const scopes = list.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !allScopes.includes(scope));
  if (unknown !== undefined) throw usage(`Unknown scope "${unknown}". Use ${allScopes.join(', ')}.`);
  return [...new Set(scopes)];
}

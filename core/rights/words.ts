// The table of rights in sentences, as a person is asked for consent: what a scope lets a plugin do, to which objects and fields.
import type { Contract } from '../contract/contract.ts';
import { contracts } from '../contracts.ts';
import { listed } from '../lib/listed.ts';
import { readScopeOf, type Rights } from './rights.ts';
import type { Standing } from './roles.ts';

/** As a manifest or an install has it. */
export interface Narrowed {
  readonly fields?: readonly string[] | null | undefined;
  readonly where?: Readonly<Record<string, readonly string[]>> | null | undefined;
}

/** Scopes that are no plain reading and writing of objects. */
const special: Readonly<Record<string, string>> = {
  'approvals:write': 'Approve and reject proposals.',
  'audit:read': 'Read the audit log.',
  'automations:read': 'Read events of plugin runs, proposals and undos.',
  'automations:write':
    'Read events of plugin runs, proposals and undos, and call actions of plugins that send data to other servers.',
  'backtests:write': 'Try installed plugins on recorded events.',
  'import:write': 'Import issues in the name of other members.',
  'inbox:write': 'Read the inbox, and change its items and preferences.',
  'proposals:write': 'Read proposals, and propose changes for approval.',
};

/** `Read issues, and write only their priority, of team ENG only.` Of a whole scope to write: `…, and create, change and delete them.` */
export function sentenceOf(scope: string, { fields, where }: Narrowed): string {
  const own = fields || where ? undefined : special[scope];
  if (own !== undefined) return own;
  const things = (scope.split(':')[0] ?? scope).replaceAll('-', ' ');
  const of = Object.entries(where ?? {}).map(([word, values]) => `${word} ${listed(values, 'or')}`);
  const rows = of.length > 0 ? `, of ${of.join(' and ')} only` : '';
  if (readScopeOf(scope) === scope)
    return fields
      ? `Read of ${things} only ${listed(fields, 'and')}${rows}.`
      : `Read ${things}, with all their fields${rows}.`;
  const written = fields ? `write only their ${listed(fields, 'and')}` : writingOf(scope);
  return `Read ${things}, and ${written}${rows}.`;
}

const ofScope = (scope: string): Contract[] =>
  contracts.filter(({ path, scope: shared = path }: Contract) => scope === `${shared}:write`);

/** What a whole scope to write lets one do with its objects: `create, change and delete them`. */
function writingOf(scope: string): string {
  const own = ofScope(scope).find(({ path }) => `${path}:write` === scope);
  if (!own) return 'write all their fields';
  // Operations beside the plain ones are known by their events.
  const { events, operations } = own;
  const can = {
    create: operations.create ?? events.created,
    change: operations.update ?? events.updated,
    delete: operations.delete ?? events.deleted,
  };
  const verbs = Object.entries(can).flatMap(([verb, known]) => (known ? [verb] : []));
  return verbs.length === 0 ? 'write all their fields' : `${listed(verbs, 'and')} them`;
}

/** Objects that stay deleted, which whoever lets an app delete should know: a sentence with a space before it, or nothing. */
function lossOf(scope: string): string {
  const lost = ofScope(scope).filter(({ operations: { delete: gone, restore } }) => gone && !restore);
  const names = lost.map(({ path }) => path.replaceAll('-', ' '));
  return names.length === 0 ? '' : ` Deleted ${listed(names, 'and')} cannot be restored.`;
}

/** What an app may do under a scope, for the member who is asked to grant it. */
export function consentSentenceOf(scope: string): string {
  return sentenceOf(scope, {}) + lossOf(scope);
}

interface Holder {
  readonly actor: { readonly kind: string };
  /** Of the member that it acts for. */
  readonly standing?: Standing | undefined;
}

/** What lacks a scope, for the middle of a sentence: the role of a member, where no token of theirs could have it. */
export function holderOf({ actor, standing }: Holder, scope: string): string {
  if (standing && !holds(standing.rights, scope)) return `the role ${standing.role} of ${standing.name}`;
  return actor.kind === 'plugin' ? "the plugin's grant" : 'the token';
}

function holds({ scopes, narrowed }: Rights, scope: string): boolean {
  return scopes.has(scope) || (narrowed?.has(scope) ?? false);
}

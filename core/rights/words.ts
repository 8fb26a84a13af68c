// The table of rights in sentences, as a person is asked for consent: what a scope lets a plugin do, to which objects and fields.
import { listed } from '../lib/listed.ts';
import { readScopeOf, type Rights } from './rights.ts';
import type { Standing } from './roles.ts';

/** As a manifest or an install has it. */
export interface Narrowed {
  readonly fields?: readonly string[] | null | undefined;
  readonly where?: Readonly<Record<string, readonly string[]>> | null | undefined;
}

/** `Read issues, and write their priority, of team ENG only.` */
export function sentenceOf(scope: string, { fields, where }: Narrowed): string {
  const things = (scope.split(':')[0] ?? scope).replaceAll('-', ' ');
  const of = Object.entries(where ?? {}).map(([word, values]) => `${word} ${listed(values, 'or')}`);
  const rows = of.length > 0 ? `, of ${of.join(' and ')} only` : '';
  if (readScopeOf(scope) === scope)
    return fields
      ? `Read of ${things} only ${listed(fields, 'and')}${rows}.`
      : `Read ${things}, with all their fields${rows}.`;
  const written = fields ? `write only their ${listed(fields, 'and')}` : 'write all their fields';
  return `Read ${things}, and ${written}${rows}.`;
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

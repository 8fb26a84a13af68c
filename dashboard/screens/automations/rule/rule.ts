// A rule as JSON. The editor changes the parts that it knows, and leaves others as they are.
import type { Automation } from '@tatami/sdk/client';
import { isTree } from '../../../parts/filter/filter.ts';

export type Part = Readonly<Record<string, unknown>>;

export interface Rule {
  readonly trigger: Part;
  readonly conditions: Part;
  readonly issues: Part | null;
  readonly actions: readonly Part[];
}

export interface Draft extends Rule {
  readonly name: string;
  readonly description: string;
}

export const emptyDraft: Draft = {
  name: '',
  description: '',
  trigger: { type: 'event', event: 'issue.created' },
  conditions: {},
  issues: null,
  actions: [],
};

export const ruleOf = ({ trigger, conditions, issues, actions }: Rule): Rule => ({
  trigger,
  conditions,
  issues,
  actions,
});

export const draftOf = ({ name, description, ...rule }: Automation): Draft => ({
  name,
  description,
  ...ruleOf(rule),
});

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Returns the changed parts, for a request that changes nothing else. */
export function changesOf(before: Draft, after: Draft): Partial<Draft> {
  const names = Object.keys(before) as (keyof Draft)[];
  return Object.fromEntries(
    names.filter((name) => !isSame(before[name], after[name])).map((name) => [name, after[name]]),
  );
}

/** Returns the part with a member replaced, or removed if the value is undefined. */
export function withMember<T extends Part>(part: T, name: string, value: unknown): T {
  if (value !== undefined) return { ...part, [name]: value };
  const { [name]: _, ...others } = part;
  return others as T;
}

export const textOf = (part: Part, name: string): string => {
  const value = part[name];
  return typeof value === 'string' ? value : '';
};

export const partOf = (part: Part, name: string): Part | undefined => {
  const value = part[name];
  return isTree(value) ? value : undefined;
};

export const textsOf = (part: Part, name: string): readonly string[] => {
  const value = part[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
};

/** Returns the part at a path, such as `actions.0.members`; undefined if it is missing. */
export const valueAt = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (part, name) => (typeof part === 'object' && part !== null ? (part as Part)[name] : undefined),
      value,
    );

/** Returns the value with the part at a path, such as `actions.0.members`, replaced. A missing part is not added. */
export function withPath<T>(value: T, path: string, part: unknown): T {
  const [name = '', ...rest] = path.split('.');
  if (typeof value !== 'object' || value === null || !(name in value)) return value;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[name] = rest.length === 0 ? part : withPath(copy[name], rest.join('.'), part);
  return copy as T;
}

export const isExpression = (value: unknown): value is string =>
  typeof value === 'string' && /\{[{%]/.test(value);

/** Reads the rule that the person wrote as JSON. @returns null for another shape */
export function parseRule(json: string): Rule | null {
  try {
    const { trigger, conditions = {}, issues = null, actions } = JSON.parse(json) as Partial<Rule>;
    const isRule =
      isTree(trigger) &&
      isTree(conditions) &&
      (issues === null || isTree(issues)) &&
      Array.isArray(actions) &&
      actions.every(isTree);
    return isRule ? { trigger, conditions, issues, actions } : null;
  } catch {
    return null;
  }
}

// Rules in a folder: one YAML file each.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import schema from '../../../../docs/automations/rule.schema.json';
import { inOneLine } from '../../../platform/lib/text/printable.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { CommandError } from '../lib/output.ts';

/** Rule as a file describes it. Absent `description`, `enabled`, `mode` and `stepDown` leave those of the server. */
export interface FileRule {
  readonly id?: string;
  readonly name: string;
  readonly description?: string;
  readonly enabled?: boolean;
  readonly mode?: string;
  readonly stepDown?: unknown;
  readonly trigger: unknown;
  readonly conditions?: unknown;
  readonly issues?: unknown;
  readonly actions: readonly unknown[];
}

export interface RuleFile {
  /** Path as the user gave it, for messages. */
  readonly path: string;
  readonly rule: FileRule;
}

/** Automation as the server returns it. */
export interface Automation {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly mode: string;
  readonly stepDown: unknown;
  readonly trigger: unknown;
  readonly conditions: unknown;
  readonly issues: unknown;
  readonly actions: readonly unknown[];
  readonly state: string;
  readonly version: number;
}

/** Keys of a file, in the order in which they are written. */
const fileKeys = Object.keys(schema.properties);

export const schemaFile = 'rule.schema.json';
const firstLine = `# yaml-language-server: $schema=./${schemaFile}`;

/** @param folder where relative paths begin @throws CommandError naming each file that is no rule */
export function readRules(dir: string, folder: string): readonly RuleFile[] {
  const full = resolve(folder, dir);
  if (!statSync(full, { throwIfNoEntry: false })?.isDirectory())
    throw new CommandError(`${dir} is no folder. Create it with \`tatami rules pull ${dir}\`.`);
  const names = readdirSync(full).filter((name) => /\.ya?ml$/.test(name));
  const problems: string[] = [];
  const files = names.toSorted().flatMap((name): RuleFile[] => {
    const path = join(dir, name);
    try {
      return [{ path, rule: ruleIn(readFileSync(join(full, name), 'utf8')) }];
    } catch (error) {
      problems.push(`${path}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  requireNone([...problems, ...repeated(files)]);
  return files;
}

/** @throws CommandError */
export function requireNone([first, ...others]: readonly string[]): void {
  if (first !== undefined) throw new CommandError(first, 1, { lines: others });
}

/** @throws Error */
function ruleIn(text: string): FileRule {
  const value: unknown = Bun.YAML.parse(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error('The file must be a YAML mapping with name, trigger and actions.');
  const unknown = Object.keys(value).find((key) => !fileKeys.some((known) => known === key));
  if (unknown !== undefined)
    throw new Error(
      `${unknown}: There is no such key. Use ${fileKeys.join(', ')}.${didYouMean(unknown, fileKeys)}`,
    );
  const rule = value as Partial<FileRule>;
  for (const [key, type, fix] of [
    ['name', 'string', 'Give the name of the automation.'],
    ['trigger', 'object', 'Give a trigger, such as {type: event, event: issue.created}.'],
    ['actions', 'object', 'Give a list of actions.'],
  ] as const)
    if (typeof rule[key] !== type || rule[key] === null) throw new Error(`${key}: ${fix}`);
  if (!Array.isArray(rule.actions)) throw new Error('actions: Give a list of actions.');
  if (rule.enabled !== undefined && typeof rule.enabled !== 'boolean')
    throw new Error('enabled: Give true or false.');
  const { description } = rule;
  return {
    ...(rule as FileRule),
    name: inOneLine(rule.name!),
    ...(typeof description === 'string' ? { description: inOneLine(description) } : {}),
  };
}

function repeated(files: readonly RuleFile[]): string[] {
  return (['id', 'name'] as const).flatMap((key) =>
    [...Map.groupBy(files, ({ rule }) => rule[key])].flatMap(([value, [first, second]]) =>
      value === undefined || !second
        ? []
        : [`${second.path}: ${key}: ${first!.path} has the same ${key}. Change one of them.`],
    ),
  );
}

/** Returns the file of an automation, with its keys in a fixed order. Parts that are empty are left out. */
export function textOf(automation: Automation): string {
  const { state, conditions, issues, description, ...rest } = automation;
  const rule: Readonly<Record<string, unknown>> = {
    ...rest,
    enabled: state === 'active',
    ...(description === '' ? {} : { description }),
    ...(Object.keys(conditions as object).length === 0 ? {} : { conditions }),
    ...(issues === null ? {} : { issues }),
  };
  const written = fileKeys.flatMap((key) => (rule[key] === undefined ? [] : [[key, typeFirst(rule[key])]]));
  return `${firstLine}\n${Bun.YAML.stringify(Object.fromEntries(written), null, 2)}\n`;
}

/** Returns a value in which the `type` of each part comes first. */
function typeFirst(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typeFirst);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, one]) => [name, typeFirst(one)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => Number(b === 'type') - Number(a === 'type')));
}

/** Returns a file name for a rule: `close-stale-issues`. */
export function slugOf(name: string): string {
  const words = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return (
    words
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 60) || 'rule'
  );
}

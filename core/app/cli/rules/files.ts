// Rules in a folder: one YAML file each.
import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  isCollection,
  isPair,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Node,
  type YAMLMap,
} from 'yaml';
import schema from '../../../../docs/automations/rule.schema.json';
import { inOneLine, printable } from '../../../platform/lib/text/printable.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { CommandError, say } from '../lib/output.ts';

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
  readonly probation: { readonly runsLeft: number } | null;
  readonly version: number;
}

/** Keys of a file, in the order in which they are written. */
const fileKeys = Object.keys(schema.properties);

export const schemaFile = 'rule.schema.json';
const firstLine = `# yaml-language-server: $schema=./${schemaFile}`;

/** Names of links are enough: a link to a folder is an error when it is read. */
const isRuleFile = (entry: Dirent): boolean => !entry.isDirectory() && /\.ya?ml$/i.test(entry.name);

/** @throws CommandError for the path of a file */
export function requireNoFile(dir: string, folder: string): void {
  const found = statSync(resolve(folder, dir), { throwIfNoEntry: false });
  if (found && !found.isDirectory()) throw new CommandError(`${dir} is a file. Give its folder.`);
}

/** @param folder where relative paths begin @throws CommandError naming each file that is no rule */
export function readRules(dir: string, folder: string): readonly RuleFile[] {
  const full = resolve(folder, dir);
  requireNoFile(dir, folder);
  if (!statSync(full, { throwIfNoEntry: false }))
    throw new CommandError(`${dir} is no folder. Create it with \`tatami rules pull ${dir}\`.`);
  const names = readdirSync(full, { withFileTypes: true })
    .filter(isRuleFile)
    .map(({ name }) => name);
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

/**
 * Reads a folder to make the server equal to it. Refuses a folder without rules: it is usually the wrong one, and
 * `--delete` would delete all automations.
 * @throws CommandError
 */
export function readFilled(dir: string, folder: string): readonly RuleFile[] {
  const files = readRules(dir, folder);
  sayIgnored(dir, folder);
  if (files.length > 0) return files;
  throw new CommandError(
    `${dir} has no rule files (*.yaml). Check the path, or run \`tatami rules pull ${dir}\`.`,
  );
}

/** Hidden files, such as .gitkeep, are not meant to be rules. */
function sayIgnored(dir: string, folder: string): void {
  const ignored = readdirSync(resolve(folder, dir), { withFileTypes: true })
    .filter((entry) => !isRuleFile(entry) && entry.name !== schemaFile && !entry.name.startsWith('.'))
    .map((entry) => join(dir, entry.name) + (entry.isDirectory() ? '/' : ''));
  if (ignored.length > 0)
    say(
      `Ignored, because rules are *.yaml and *.yml files directly in the folder: ${ignored.toSorted().map(printable).join(', ')}`,
    );
}

/** @throws CommandError */
export function requireNone([first, ...others]: readonly string[]): void {
  if (first !== undefined) throw new CommandError(first, 1, { lines: others });
}

/** @throws Error */
function ruleIn(text: string): FileRule {
  const value = parsed(text);
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new Error('The file must be a YAML mapping with name, trigger and actions.');
  requireKnownKeys(value);
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
  return { ...(rule as FileRule), name: inOneLine(rule.name!) };
}

/** @throws Error naming the line of a syntax error, of a key that is given twice, or of a template without quotes */
function parsed(text: string): unknown {
  const counter = new LineCounter();
  const lineOf = (offset: number): number => counter.linePos(offset).line;
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false, uniqueKeys: false });
  visit(document, { Map: (_, map, path) => requireKeys(map, namesIn([...path, map]), lineOf) });
  const [wrong] = document.errors;
  if (wrong) throw invalidYaml(lineOf(wrong.pos[0]), wrong.message);
  visit(document, {
    Alias(_, alias) {
      if (!alias.resolve(document))
        throw invalidYaml(lineOf(alias.range![0]), `there is no anchor ${alias.source}`);
    },
  });
  return document.toJS() as unknown;
}

function invalidYaml(line: number, reason: string): Error {
  const fix = 'Check the indentation, and quote texts that contain `{{` or `: `, or start with `*`.';
  return new Error(`Line ${line} is no valid YAML: ${reason.replace(/\.$/, '')}. ${fix}`);
}

/** Returns the keys and indexes above a mapping. @param path nodes from the document to the mapping */
const namesIn = (path: readonly unknown[]): string[] =>
  path.flatMap((one, at) => {
    if (isPair(one)) return String(one.key);
    return isSeq(one) ? String(one.items.indexOf(path[at + 1])) : [];
  });

function requireKeys(map: YAMLMap, names: readonly string[], lineOf: (offset: number) => number): void {
  const known = new Map<string, number>();
  for (const { key } of map.items as { key: Node }[]) {
    if (isCollection(key))
      throw new Error(`${names.join('.')}: Quote texts that start with \`{{\`, such as "{{ issue.title }}".`);
    const [name, line] = [String(key), lineOf(key?.range?.[0] ?? 0)];
    const earlier = known.get(name);
    known.set(name, line);
    if (earlier === undefined) continue;
    const words =
      earlier === line ? `Line ${line} has the key twice` : `Line ${line} repeats the key of line ${earlier}`;
    throw new Error(`${[...names, name].join('.')}: ${words}. Keep one of them.`);
  }
}

/** @throws Error */
function requireKnownKeys(value: object): void {
  const unknown = Object.keys(value).find((key) => !fileKeys.includes(key));
  if (unknown === undefined) return;
  if (unknown === 'probation')
    throw new Error(
      'probation: A file cannot start or end probation. Remove the key, and apply with `tatami rules apply --no-probation`.',
    );
  throw new Error(
    `${unknown}: There is no such key. Use ${fileKeys.join(', ')}.${didYouMean(unknown, fileKeys)}`,
  );
}

/** Files of equal name need an `id` each, because a name alone does not say which automation is meant. */
function repeated(files: readonly RuleFile[]): string[] {
  const groups = (key: 'id' | 'name') => Map.groupBy(files, ({ rule }) => rule[key]).values();
  const equalIds = [...groups('id')].filter(([file]) => file!.rule.id !== undefined);
  const equalNames = [...groups('name')].filter((group) => group.some(({ rule }) => rule.id === undefined));
  return [
    ...equalIds.flatMap(([first, second]) =>
      second ? [`${second.path}: id: ${first!.path} has the same id. Change one of them.`] : [],
    ),
    ...equalNames.flatMap(([first, second]) =>
      second
        ? [
            `${second.path}: name: ${first!.path} has the same name. Change one of them, or add the \`id\` of its automation to each.`,
          ]
        : [],
    ),
  ];
}

/**
 * Mode of an automation that names none. A file without it does not undo a step-down by the server at the next
 * `rules apply`.
 */
export const modeDefault = 'apply';

/**
 * Returns the file of an automation, with its keys in a fixed order. Empty parts and the default mode are left out.
 */
export function textOf(automation: Automation): string {
  const { state, conditions, issues, description, mode, ...rest } = automation;
  const rule: Readonly<Record<string, unknown>> = {
    ...rest,
    enabled: state === 'active',
    ...(mode === modeDefault ? {} : { mode }),
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

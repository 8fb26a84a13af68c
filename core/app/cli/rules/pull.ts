// `tatami rules pull DIR`: writes the automations of the server to a folder.
import { existsSync, mkdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import schema from '../../../../docs/automations/rule.schema.json';
import { printResult } from '../lib/output.ts';
import { readAll } from '../lib/pages.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { writeOutputFile } from '../lib/write-file.ts';
import {
  readRules,
  requireNoFile,
  schemaFile,
  slugOf,
  textOf,
  type Automation,
  type RuleFile,
} from './files.ts';
import { differencesOf } from './steps.ts';

export interface PullOptions extends RemoteOptions {
  /** Deletes files of automations that no longer exist. */
  delete?: boolean;
}

interface Pulled {
  readonly file: string;
  readonly id: string;
  readonly result: 'written' | 'unchanged' | 'deleted';
}

/** @param folder where relative paths begin */
export async function pull(dir: string, options: PullOptions, folder: string): Promise<void> {
  requireNoFile(dir, folder);
  const automations = await readAll<Automation>(connect(options), '/automations');
  const full = resolve(folder, dir);
  mkdirSync(full, { recursive: true });
  const before = readRules(dir, folder);
  const paths = new Set(before.map(({ path }) => path));
  const pulled = automations.map((automation): Pulled => {
    const { id } = automation;
    const known = fileOf(before, automations, automation);
    const file = known?.path ?? freePath(dir, automation.name, paths);
    paths.add(file);
    if (known && isEqual(known, automation)) return { file, id, result: 'unchanged' };
    writeOutputFile(resolve(folder, file), textOf(automation));
    return { file, id, result: 'written' };
  });
  const gone = before.filter(
    ({ rule }) => rule.id !== undefined && !automations.some(({ id }) => id === rule.id),
  );
  const deleted = options.delete === true ? gone : [];
  for (const { path } of deleted) unlinkSync(resolve(folder, path));
  writeSchema(join(full, schemaFile));
  const results = [
    ...pulled,
    ...deleted.map(({ path, rule }): Pulled => ({ file: path, id: rule.id!, result: 'deleted' })),
  ];
  const left = gone.filter((file) => !deleted.includes(file)).map(({ path }) => path);
  // Such a file is as likely a new rule as one of a deleted automation, so no flag deletes it.
  const unmatched = before
    .filter(({ path, rule }) => rule.id === undefined && !pulled.some(({ file }) => file === path))
    .map(({ path }) => path);
  printResult({ files: results, left, unmatched }, options, (shown) => linesOf(shown).join('\n'));
}

function linesOf({
  files,
  left,
  unmatched,
}: {
  readonly files: readonly Pulled[];
  readonly left: readonly string[];
  readonly unmatched: readonly string[];
}): string[] {
  return [
    ...(files.length === 0 ? ['The server has no automations.'] : []),
    ...files.map(({ file, result }) => `${result}  ${file}`),
    ...left.map((file) => `The automation of ${file} no longer exists. Delete the file, or use --delete.`),
    ...unmatched.map(
      (file) => `${file} has no id, and not one automation has its name. Apply the file, or delete it.`,
    ),
  ];
}

/** Returns the file of an automation: the one with its id, or the one without an id that has its name. */
function fileOf(
  files: readonly RuleFile[],
  automations: readonly Automation[],
  { id, name }: Automation,
): RuleFile | undefined {
  const byId = files.find(({ rule }) => rule.id === id);
  if (byId) return byId;
  const isOnly = automations.filter((one) => one.name === name).length === 1;
  return isOnly ? files.find(({ rule }) => rule.id === undefined && rule.name === name) : undefined;
}

/** A file with the same content remains, with its comments. */
const isEqual = ({ rule }: RuleFile, automation: Automation): boolean =>
  differencesOf(rule, automation).length === 0;

function freePath(dir: string, name: string, taken: ReadonlySet<string>): string {
  const slug = slugOf(name);
  for (let number = 1; ; number++) {
    const path = join(dir, `${slug}${number === 1 ? '' : `-${number}`}.yaml`);
    if (!taken.has(path)) return path;
  }
}

function writeSchema(path: string): void {
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeOutputFile(path, text);
}

/** Reads the NLBSE'24 issues, and the folds of `folds.json`, which assign every issue of the file to a fold per seed. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import type { IssueType } from '../../plugins/auto-triage/model/kind.ts';
import type { Example } from '../../plugins/auto-triage/model/train.ts';
import folds from './folds.json';

export const dataFile = fileURLToPath(new URL('../../../shared/data/nlbse24-train.csv', import.meta.url));

export type Repository = {
  readonly name: string;
  readonly examples: readonly Example[];
  /** Fold of each example, by seed. */
  readonly folds: ReadonlyMap<number, readonly number[]>;
};

/** @throws Error if the file is not the one that the folds were made for */
export function readRepositories(file: string): Repository[] {
  const text = readFileSync(file, 'utf8');
  const sha256 = new Bun.CryptoHasher('sha256').update(text).digest('hex');
  if (sha256 !== folds.sha256)
    throw new Error(`${file} has the SHA-256 ${sha256}, but bench/triage/folds.json is for ${folds.sha256}.`);
  const rows: { repo: string; label: IssueType; title: string; body: string }[] = parse(text, {
    columns: true,
  });
  return [...Map.groupBy(rows, ({ repo }) => repo)].map(([name, issues]) => ({
    name,
    examples: issues.map(({ label, title, body }) => ({ kind: label, title, description: body })),
    folds: foldsOf(name),
  }));
}

/** @throws Error for an unknown repository */
function foldsOf(repository: string): Map<number, readonly number[]> {
  const own = folds.repositories.find(({ name }) => name === repository);
  if (!own) throw new Error(`bench/triage/folds.json has no folds of ${repository}.`);
  return new Map(own.folds.map((text, at) => [folds.seeds[at] ?? 0, Array.from(text, Number)]));
}

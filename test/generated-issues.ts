// Generates any number of different labelled issues from a seed, by recombining sentences of the example
// issues of one kind.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { seededRandom } from './faults/server.ts';

interface SampleIssue {
  repo: string;
  label: string;
  title: string;
  body: string;
}

const sample: SampleIssue[] = parse(readFileSync(join(import.meta.dir, '../examples/main-job/sample.csv')), {
  columns: true,
});

/** Returns CSV texts of labelled issues for training, and of new ones without labels. */
export function makeIssues(options: { teams: number; learn: number; fresh: number; seed: number }) {
  const random = seededRandom(options.seed);
  const labels = [...new Set(sample.map(({ label }) => label))].filter((label) => label !== '');
  const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const issue = (index: number): SampleIssue => {
    const label = labels[index % labels.length] as string;
    const alike = sample.filter((row) => row.label === label);
    const bodies = [oneOf(alike).body, oneOf(alike).body];
    const repo = `acme/team${'ABCDEFGH'[Math.floor(index / labels.length) % options.teams]}`;
    return { repo, label, title: `${oneOf(alike).title} (${index})`, body: bodies.join('\n\n') };
  };
  const rows = Array.from({ length: options.learn + options.fresh }, (_, index) => issue(index));
  return {
    learn: csv(rows.slice(0, options.learn)),
    fresh: csv(rows.slice(options.learn).map((row) => ({ ...row, label: '' }))),
  };
}

function csv(rows: readonly SampleIssue[]): string {
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const line = ({ repo, label, title, body }: SampleIssue, index: number): string =>
    [
      repo,
      new Date(1_790_000_000_000 + index * 60_000).toISOString().slice(0, 19).replace('T', ' '),
      label,
      title,
      body,
    ]
      .map(quoted)
      .join();
  return ['repo,created_at,label,title,body', ...rows.map(line), ''].join('\n');
}

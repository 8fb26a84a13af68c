/**
 * Trains the general model of public triage on the NLBSE'24 issues of all repositories and writes it to the file that the plugin
 * reads. Prints first the macro-F1 per repository over 5 folds, stratified by repository and kind.
 * Run: `bun bench/triage/general.ts FILE.csv`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { issueTypes, type IssueType } from '../../plugins/auto-triage/model/kind.ts';
import { Predictor } from '../../plugins/auto-triage/model/predict.ts';
import { train, type Example } from '../../plugins/auto-triage/model/train.ts';
import { finish, type Outcome } from './cross-validate.ts';
import { accuracyOfSurest, calibrationError, macroF1 } from './measures.ts';

const folds = 5;
const target = fileURLToPath(new URL('../../plugins/auto-triage/general/weights.json', import.meta.url));

type LabelledIssue = { repo: string; label: IssueType; title: string; body: string };
const rows: LabelledIssue[] = parse(readFileSync(process.argv[2] ?? ''), { columns: true });
const exampleOf = ({ label, title, body }: LabelledIssue): Example => ({
  kind: label,
  title,
  description: body,
});

const foldOf = new Map<LabelledIssue, number>();
for (const cell of Map.groupBy(rows, ({ repo, label }) => `${repo} ${label}`).values())
  for (const [rank, row] of cell.entries()) foldOf.set(row, rank % folds);

const outcomes: (Outcome & { repo: string })[] = [];
for (let fold = 0; fold < folds; fold++) {
  const model = finish(train(rows.filter((row) => foldOf.get(row) !== fold).map(exampleOf)));
  const predictor = new Predictor(model);
  for (const row of rows.filter((row) => foldOf.get(row) === fold)) {
    const { kind, confidence } = predictor.predict(exampleOf(row));
    outcomes.push({ repo: row.repo, kind: row.label, answer: kind, confidence });
  }
}
const ofRepositories = [...Map.groupBy(outcomes, ({ repo }) => repo)].map(
  ([repo, own]) => [repo, macroF1(own, issueTypes)] as const,
);
for (const [repo, f1] of ofRepositories) console.log(`${repo.padEnd(28)} macro-F1 ${f1.toFixed(3)}`);
const mean = ofRepositories.reduce((sum, [, f1]) => sum + f1, 0) / ofRepositories.length;
console.log(
  `${'mean'.padEnd(28)} macro-F1 ${mean.toFixed(3)}, calibration error ${calibrationError(outcomes).toFixed(3)}`,
);
for (const share of [0.25, 0.5, 0.75])
  console.log(`most confident ${share * 100} %: ${JSON.stringify(accuracyOfSurest(outcomes, share))}`);

const text = JSON.stringify(finish(train(rows.map(exampleOf))));
writeFileSync(target, text);
console.log(`${target}: ${text.length} characters`);

/**
 * Program for Node without JIT, the engine of the sandbox: measures kind, evidence, priority and duplicates of issues. Standard input
 * is `{ model, indexed, asked }` as JSON, standard output the CPU time of each issue in milliseconds.
 */
import { readFileSync } from 'node:fs';
import { search } from '../../plugins/auto-triage/duplicates/search.ts';
import {
  buildSegment,
  decodeSegment,
  encodeSegment,
  segmentIssuesMax,
  type Segment,
} from '../../plugins/auto-triage/duplicates/segment.ts';
import { codesOf, termsOf } from '../../plugins/auto-triage/duplicates/terms.ts';
import type { IssueText } from '../../plugins/auto-triage/model/document.ts';
import { explain } from '../../plugins/auto-triage/model/explain.ts';
import { Predictor } from '../../plugins/auto-triage/model/predict.ts';
import { priorityOf } from '../../plugins/auto-triage/priority/cues.ts';

interface Input {
  readonly model: ConstructorParameters<typeof Predictor>[0];
  readonly indexed: readonly IssueText[];
  readonly asked: readonly IssueText[];
}

const { model, indexed, asked } = JSON.parse(readFileSync(0, 'utf8')) as Input;
const predictor = new Predictor(model);
const segments: Segment[] = [];
for (let start = 0; start < indexed.length; start += segmentIssuesMax) {
  const entries = indexed
    .slice(start, start + segmentIssuesMax)
    .map((issue, at) => ({ id: String(start + at), codes: codesOf(termsOf(issue)) }));
  const segment = decodeSegment(encodeSegment(buildSegment(entries)));
  if (segment) segments.push(segment);
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};
const times = asked.map((issue) => {
  const startedMs = cpuMs();
  const examined = predictor.examine(issue);
  explain(predictor, examined);
  priorityOf(issue, examined.prediction.kind);
  search(segments, termsOf(issue), 5);
  return cpuMs() - startedMs;
});
process.stdout.write(JSON.stringify(times));

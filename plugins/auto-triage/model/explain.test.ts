import { expect, test } from 'bun:test';
import { explain } from './explain.ts';
import { explainRule } from './explain-rule.ts';
import { Predictor } from './predict.ts';
import { sampleIssues } from './sample-issues.ts';
import { train } from './train.ts';

function predictor(): Predictor {
  const steps = train(sampleIssues);
  for (;;) {
    const step = steps.next();
    if (step.done) return new Predictor(step.value);
  }
}

test('the evidence quotes words of the issue as written', () => {
  const issue = { title: 'Amber again', description: 'Since Monday.\n\n## Seen on\nnightly 2.4' };
  const model = predictor();
  const evidence = explain(model, model.examine(issue)).join(', ');
  expect(evidence).toContain('“Seen on”'.toLowerCase());
  expect(evidence).toContain('“Amber” in the title');
});

test('there are at most four reasons, none contained in another', () => {
  const model = predictor();
  for (const issue of sampleIssues.slice(0, 9)) {
    const evidence = explain(model, model.examine(issue));
    expect(evidence.length).toBeLessThanOrEqual(4);
    expect(new Set(evidence).size).toBe(evidence.length);
  }
});

test('the rule quotes the words it matched', () => {
  expect(explainRule({ title: 'Crashes on save', description: '' }, 'bug')).toEqual(['“crashes”']);
  expect(explainRule({ title: 'How to save?', description: '' }, 'question')).toEqual(['“how to”']);
});

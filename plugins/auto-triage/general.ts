// Plugin of `POST /triage`, the public triage. It is not installed in any workspace and has no scopes; the
// server passes issues and reads answers through `kv`.
import { definePlugin } from '@tatami/sdk/plugin';
import { explain } from './model/explain.ts';
import { asModel } from './model/model.ts';
import { Predictor } from './model/predict.ts';
import { priorityOf } from './priority/cues.ts';
import weights from './general/weights.json';

interface GeneralIssue {
  readonly title: string;
  readonly description: string;
}

let predictor: Predictor | undefined;

function load(): Predictor {
  const model = asModel(weights);
  if (!model) throw new Error('The general model has an incompatible version.');
  return new Predictor(model);
}

function triage(issue: GeneralIssue) {
  predictor ??= load();
  const examined = predictor.examine(issue);
  const { kind, confidence } = examined.prediction;
  const { priority, evidence } = priorityOf(issue, kind);
  return {
    kind,
    priority,
    labels: [kind],
    confidence: Math.round(confidence * 1_000) / 1_000,
    evidence: [...new Set([...explain(predictor, examined), ...evidence])],
  };
}

export default definePlugin({
  id: 'public-triage',
  version: '1.0.0',
  name: 'Public triage',
  description: 'Predicts the kind and priority of issues.',
  engines: { tatami: '*' },
  schedules: {
    triage: {
      cron: '0 0 1 1 *',
      async handle(_, ctx) {
        const issues = (await ctx.kv.get('issues')) as readonly GeneralIssue[];
        await ctx.kv.set('answer', issues.map(triage));
      },
    },
  },
});

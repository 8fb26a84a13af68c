// `issue.created`: labels an issue without a kind label with its most likely kind, and explains why in a comment.
import { InvalidInput, type Issue } from '@tatami/sdk/plugin';
import { labelComment, suggestionComment } from './comment.ts';
import type { TriageContext } from './context.ts';
import { issueTypesOf } from './labels.ts';
import { readModel, readTeams, rememberOwn } from './memory.ts';
import { explain } from './model/explain.ts';
import { explainRule } from './model/explain-rule.ts';
import { predictByRule, Predictor, type Prediction } from './model/predict.ts';

/** Cache of models by team, with their signatures, because an isolate handles many events. `kv` stores all models. */
const predictors = new Map<string, { readonly signature: string; readonly predictor: Predictor }>();
const predictorsMax = 8;

/** @param issue issue at the start of the run, which may have been labelled or deleted since its creation */
export async function triage(issue: Issue | null | undefined, ctx: TriageContext): Promise<void> {
  if (!issue || issueTypesOf(issue.labels).length > 0) return;
  const text = { title: issue.title, description: issue.description };
  const predictor = await predictorOf(ctx, issue.team.key);
  if (!predictor && !ctx.settings.rule) return;
  const prediction = predictor ? predictor.predict(text) : predictByRule(text);
  const evidence = (): string[] =>
    predictor ? explain(predictor, text, prediction.kind) : explainRule(text, prediction.kind);
  if (prediction.confidence >= ctx.settings.threshold)
    await label(ctx, issue, prediction, predictor, evidence);
  else if (ctx.settings.suggest)
    await ctx.comments.create(issue.id, {
      body: suggestionComment(prediction, evidence(), predictor?.model, issue.team.key),
    });
}

async function label(
  ctx: TriageContext,
  issue: Issue,
  prediction: Prediction,
  predictor: Predictor | undefined,
  evidence: () => string[],
): Promise<void> {
  try {
    const labels = [...issue.labels.map(({ id }) => id), prediction.kind];
    await ctx.issues.update(issue.id, { labels }, { ifVersion: issue.version });
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    ctx.log.warn(
      `Team ${issue.team.key} has no label "${prediction.kind}"; create it so that new issues can get it.`,
    );
    return;
  }
  await ctx.comments.create(issue.id, {
    body: labelComment(prediction, evidence(), predictor?.model, issue.team.key),
  });
  await rememberOwn(ctx.kv, issue.team.key, issue.id, prediction.kind);
}

async function predictorOf(ctx: TriageContext, team: string): Promise<Predictor | undefined> {
  const signature = (await readTeams(ctx.kv))[team]?.signature ?? '';
  if (signature === '') return undefined;
  const cached = predictors.get(team);
  if (cached?.signature === signature) return cached.predictor;
  const model = await readModel(ctx.kv, team);
  if (!model) return undefined;
  const predictor = new Predictor(model);
  if (predictors.size >= predictorsMax) predictors.clear();
  predictors.set(team, { signature, predictor });
  return predictor;
}

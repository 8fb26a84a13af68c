// `issue.created`: labels an issue without a kind label with its most likely kind, finds likely duplicates and a
// priority, and explains all of it in one comment.
import { InvalidInput, type Issue, type IssuePatch } from '@tatami/sdk/plugin';
import { commentOf, type KindFinding, type PriorityFinding } from './comment.ts';
import type { TriageContext } from './context.ts';
import { findDuplicates } from './duplicates/duplicates.ts';
import { issueTypesOf } from './labels.ts';
import {
  readModel,
  readPriorityModel,
  readTeams,
  rememberOwn,
  rememberOwnPriority,
  type Teams,
} from './memory.ts';
import { explain } from './model/explain.ts';
import { explainRule } from './model/explain-rule.ts';
import type { IssueType } from './model/kind.ts';
import { predictByRule, Predictor, type Prediction } from './model/predict.ts';
import { priorityOf } from './priority/cues.ts';
import { predictPriority } from './priority/learned.ts';

/** Cache of models by team, with their signatures, because an isolate handles many events. `kv` stores all models. */
const predictors = new Map<string, { readonly signature: string; readonly predictor: Predictor }>();
const predictorsMax = 8;

/** @param issue issue at the start of the run, which may have been changed or deleted since its creation */
export async function triage(issue: Issue | null | undefined, ctx: TriageContext): Promise<void> {
  if (!issue) return;
  const { settings } = ctx;
  const teams = await readTeams(ctx.kv);
  const [ownKind] = issueTypesOf(issue.labels);
  const kind = ownKind === undefined ? await findKind(ctx, issue, teams) : undefined;
  const priority = await findPriority(ctx, issue, teams, ownKind ?? kind?.prediction.kind);
  const duplicates = settings.duplicates ? await findDuplicates(ctx, issue, Object.keys(teams).length) : [];
  const isLabelled = await update(ctx, issue, kind, priority);
  const isShown = kind?.isSure === true ? isLabelled : settings.suggest;
  const body = commentOf({ team: issue.team.key, kind: isShown ? kind : undefined, duplicates, priority });
  if (body !== '') await ctx.comments.create(issue.id, { body });
}

/** @returns undefined without a model if the settings disable the rule */
async function findKind(ctx: TriageContext, issue: Issue, teams: Teams): Promise<KindFinding | undefined> {
  const predictor = await predictorOf(ctx, issue.team.key, teams);
  if (predictor) {
    const examined = predictor.examine(issue);
    const { prediction } = examined;
    const evidence = (): string[] => explain(predictor, examined);
    return { prediction, isSure: isSure(prediction, ctx), evidence, learned: predictor.model.learned };
  }
  if (!ctx.settings.rule) return undefined;
  const prediction = predictByRule(issue);
  const evidence = (): string[] => explainRule(issue, prediction.kind);
  return { prediction, isSure: isSure(prediction, ctx), evidence, learned: undefined };
}

function isSure({ confidence }: Prediction, { settings }: TriageContext): boolean {
  return confidence >= settings.threshold;
}

/** Asks the team's model; without one, general cues, some of which count for bugs only. */
async function findPriority(
  ctx: TriageContext,
  issue: Issue,
  teams: Teams,
  kind: IssueType | undefined,
): Promise<PriorityFinding | undefined> {
  if (issue.priority !== 'none' || ctx.settings.priority === 'off') return undefined;
  const { key } = issue.team;
  const isSet = ctx.settings.priority === 'set';
  const model = teams[key]?.hasPriorities === true ? await readPriorityModel(ctx.kv, key) : undefined;
  if (model) {
    const answer = predictPriority(model, issue);
    return answer && { ...answer, isSet, learned: model.learned.reduce((sum, count) => sum + count, 0) };
  }
  const { priority, evidence } = priorityOf(issue, kind ?? predictByRule(issue).kind);
  return evidence.length === 0 ? undefined : { priority, evidence, isSet, learned: 0 };
}

/**
 * Writes a sure kind and a priority to be set, and remembers them as the plugin's own.
 * @returns true if the issue was labelled
 */
async function update(
  ctx: TriageContext,
  issue: Issue,
  kind: KindFinding | undefined,
  priority: PriorityFinding | undefined,
): Promise<boolean> {
  const { id, team, version } = issue;
  const label = kind?.isSure === true ? kind.prediction.kind : undefined;
  const prioritised = priority?.isSet === true ? priority.priority : undefined;
  const rest = prioritised === undefined ? {} : { priority: prioritised };
  const isLabelled = label !== undefined && (await addLabel(ctx, issue, label, rest));
  if (isLabelled) await rememberOwn(ctx.kv, team.key, id, label);
  if (prioritised === undefined) return isLabelled;
  if (!isLabelled) await ctx.issues.update(id, rest, { ifVersion: version });
  await rememberOwnPriority(ctx.kv, team.key, id, prioritised);
  return isLabelled;
}

/** @returns false if the team has no such label */
async function addLabel(
  ctx: TriageContext,
  issue: Issue,
  kind: IssueType,
  rest: IssuePatch,
): Promise<boolean> {
  try {
    const labels = [...issue.labels.map(({ id }) => id), kind];
    await ctx.issues.update(issue.id, { ...rest, labels }, { ifVersion: issue.version });
    return true;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    ctx.log.warn(`Team ${issue.team.key} has no label "${kind}"; create it so that new issues can get it.`);
    return false;
  }
}

async function predictorOf(ctx: TriageContext, team: string, teams: Teams): Promise<Predictor | undefined> {
  const signature = teams[team]?.signature ?? '';
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

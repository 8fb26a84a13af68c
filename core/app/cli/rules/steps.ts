// Steps that make the automations of the server those of a folder.
import { isDeepStrictEqual } from 'node:util';
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { mayPass } from '../lib/output.ts';
import { readAll } from '../lib/pages.ts';
import { requireNone, type Automation, type FileRule, type RuleFile } from './files.ts';

export interface Difference {
  readonly path: string;
  /** Undefined if the value is new. */
  readonly before?: unknown;
  /** Undefined if the value is removed. */
  readonly after?: unknown;
}

export type Step =
  | { readonly does: 'create'; readonly file: string; readonly rule: FileRule }
  | {
      readonly does: 'change';
      readonly file: string;
      readonly rule: FileRule;
      readonly automation: Automation;
      readonly differences: readonly Difference[];
    }
  | { readonly does: 'delete'; readonly automation: Automation };

export interface Plan {
  readonly steps: readonly Step[];
  /** Automations that no file describes and that are not deleted. */
  readonly others: readonly Automation[];
  /** Automations of the files that only propose their changes, and remain so. */
  readonly onProbation: readonly Trial[];
  readonly renames: readonly Rename[];
}

/** New rule that is probably an automation under another name. */
export interface Rename {
  readonly file: string;
  readonly name: string;
  readonly id: string;
  readonly before: string;
}

export interface Trial {
  readonly id: string;
  readonly name: string;
  /** Number of runs that people still have to approve. */
  readonly runsLeft: number;
}

interface PlanTerms {
  /** True to delete the automations that no file describes. */
  readonly deletes: boolean;
  /** True to end the probation of each automation that a file describes. */
  readonly endsProbation: boolean;
}

/** Compares files with the server, and checks each change without writing. @throws CommandError naming the files */
export async function planOf(
  call: Call,
  files: readonly RuleFile[],
  { deletes, endsProbation }: PlanTerms,
): Promise<Plan> {
  const automations = await readAll<Automation>(call, '/automations');
  const problems: string[] = [];
  const matched = new Set<string>();
  const steps = files.flatMap(({ path: file, rule }): Step[] => {
    const found = automations.filter(({ id, name }) =>
      rule.id === undefined ? name === rule.name : id === rule.id,
    );
    const [automation] = found;
    if (found.length > 1)
      problems.push(`${file}: name: ${found.length} automations have this name. Add the \`id\` of one.`);
    else if (automation && matched.has(automation.id))
      problems.push(`${file}: id: Another file describes ${automation.name}. Remove one of them.`);
    else if (!automation && rule.id !== undefined)
      problems.push(`${file}: id: The server has no such automation. Remove \`id\` to create it.`);
    if (found.length > 1 || (!automation && rule.id !== undefined)) return [];
    if (!automation) return [{ does: 'create', file, rule }];
    matched.add(automation.id);
    const differences = [
      ...differencesOf(rule, automation),
      ...(endsProbation ? probationDifference(automation) : []),
    ];
    return differences.length === 0 ? [] : [{ does: 'change', file, rule, automation, differences }];
  });
  for (const step of steps) problems.push(...(await problemsOf(call, step)));
  requireNone(problems);
  const others = automations.filter(({ id }) => !matched.has(id));
  const onProbation = endsProbation ? [] : automations.filter(({ id }) => matched.has(id)).flatMap(trialOf);
  const renames = renamesOf(steps, others);
  const deleted = deletes ? others.map((automation) => ({ does: 'delete' as const, automation })) : [];
  return { steps: [...steps, ...deleted], others: deletes ? [] : others, onProbation, renames };
}

/** A name alone cannot tell a new rule from a renamed one; an equal trigger with equal actions suggests a renamed one. */
function renamesOf(steps: readonly Step[], others: readonly Automation[]): Rename[] {
  const created = steps.filter((step) => step.does === 'create');
  const isSame = ({ rule }: (typeof created)[number], { trigger, actions }: Automation): boolean =>
    isDeepStrictEqual([rule.trigger, rule.actions], [trigger, actions]);
  return created.flatMap((step): Rename[] => {
    const [found, ...further] = others.filter((automation) => isSame(step, automation));
    if (!found || further.length > 0 || created.filter((one) => isSame(one, found)).length > 1) return [];
    return [{ file: step.file, name: step.rule.name, id: found.id, before: found.name }];
  });
}

const trialOf = ({ id, name, probation }: Automation): Trial[] =>
  probation ? [{ id, name, runsLeft: probation.runsLeft }] : [];

/** Path of the difference that ends a probation. No file has the key. */
const probationPath = 'probation';

const probationDifference = ({ probation }: Automation): Difference[] =>
  probation ? [{ path: probationPath, before: counted(probation.runsLeft, 'run') }] : [];

/** Sends a write in the mode `simulate`, so that nothing is written if any file is wrong. */
async function problemsOf(call: Call, step: Step): Promise<string[]> {
  if (step.does === 'delete') return [];
  try {
    const [method, path, body] = writeOf(step);
    if (Object.keys(body).length > 0) await call(method, path, body, { mode: 'simulate' });
    return [];
  } catch (error) {
    // Without a login or a connection, every file would fail alike.
    if (!(error instanceof ApiCallError) || error.status === 401 || mayPass(error)) throw error;
    return [`${step.file}: ${error.message}`];
  }
}

/** Returns the request that creates or changes an automation, apart from its state. */
export function writeOf(
  step: Exclude<Step, { does: 'delete' }>,
): [method: 'POST' | 'PATCH', path: string, body: Readonly<Record<string, unknown>>] {
  const { id: _, enabled: __, ...fields } = wantedOf(step.rule);
  if (step.does === 'create') {
    const { issues, ...body } = fields;
    return ['POST', '/automations', issues === null ? body : fields];
  }
  const changed = new Set(step.differences.map(({ path }) => path.split('.', 1)[0]));
  const body = Object.fromEntries(Object.entries(fields).filter(([key]) => changed.has(key)));
  const ending = changed.has(probationPath) ? { probation: false } : {};
  return ['PATCH', `/automations/${step.automation.id}`, { ...body, ...ending }];
}

/** Returns a rule with the parts that a file may leave out. */
export const wantedOf = (rule: FileRule) => ({
  ...rule,
  conditions: rule.conditions ?? {},
  issues: rule.issues ?? null,
});

/** Returns the differences that an automation has to a file. */
export function differencesOf(rule: FileRule, automation: Automation): Difference[] {
  const { id: _, ...wanted } = wantedOf(rule);
  const present: Readonly<Record<string, unknown>> = {
    ...automation,
    enabled: automation.state === 'active',
  };
  return Object.entries(wanted).flatMap(([key, value]) => compare(key, present[key], value));
}

function compare(path: string, before: unknown, after: unknown): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const isPlain = (value: unknown): value is object => value !== null && typeof value === 'object';
  if (before === undefined) return [{ path, after }];
  if (after === undefined) return [{ path, before }];
  if (!isPlain(before) || !isPlain(after) || Array.isArray(before) !== Array.isArray(after))
    return [{ path, before, after }];
  const [old, next] = [before, after] as Record<string, unknown>[];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => compare(`${path}.${key}`, old![key], next![key]));
}

/** Parts whose change is a new revision. */
const parts: readonly string[] = ['trigger', 'conditions', 'issues', 'actions'];

export const changesParts = (differences: readonly Difference[]): boolean =>
  differences.some(({ path }) => parts.includes(path.split('.', 1)[0]!));

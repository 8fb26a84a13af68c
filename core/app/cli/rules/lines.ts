// Displays a plan.
import { counted } from '../../../platform/lib/text/words.ts';
import { changesParts, type Difference, type Rename, type Step, type Trial } from './steps.ts';

export interface Summary {
  readonly does: Step['does'];
  readonly file: string | null;
  readonly id: string | null;
  readonly name: string;
  readonly differences: readonly Difference[];
  /** True if the change puts an enabled rule back on probation. */
  readonly startsProbation: boolean;
}

export function summaryOf(step: Step): Summary {
  const { does } = step;
  const without = { differences: [], startsProbation: false };
  if (does === 'delete')
    return { does, file: null, id: step.automation.id, name: step.automation.name, ...without };
  const { file, rule } = step;
  if (does === 'create') return { does, file, id: null, name: rule.name, ...without };
  const { automation, differences } = step;
  return {
    ...{ does, file, id: automation.id, name: rule.name, differences },
    startsProbation:
      automation.state === 'active' &&
      rule.enabled !== false &&
      (rule.mode ?? automation.mode) === 'apply' &&
      changesParts(differences),
  };
}

const indent = ' '.repeat(8);
const probationText =
  'The rule will propose its changes again until people approved 20 runs, unless applied with --no-probation.';
const shownMax = 100;

export function planLines({
  steps,
  others,
  onProbation,
  renames,
}: {
  readonly steps: readonly (Summary & { readonly backtest?: string | null })[];
  readonly others: readonly { readonly name: string }[];
  readonly onProbation: readonly Trial[];
  readonly renames: readonly Rename[];
}): string[] {
  return [
    ...(steps.length === 0 ? ['No differences.'] : []),
    ...steps.flatMap(({ does, file, id, name, differences, startsProbation, backtest = null }) => [
      `${does}  ${file === null ? `${name} (${id})` : `${file}  ${name}`}`,
      ...differences.map((one) => indent + differenceText(one)),
      ...(startsProbation ? [indent + probationText] : []),
      ...(backtest === null ? [] : [indent + backtest]),
    ]),
    ...renames.map(renameText),
    ...(others.length === 0
      ? []
      : [`Not in the folder, and deleted only with --delete: ${others.map(({ name }) => name).join(', ')}`]),
    ...(onProbation.length === 0
      ? []
      : [
          `On probation until people approve more runs, or until applied with --no-probation: ${onProbation.map(trialText).join(', ')}`,
        ]),
  ];
}

const trialText = ({ name, runsLeft }: Trial): string => `${name} (${counted(runsLeft, 'run')})`;

function differenceText({ path, before, after }: Difference): string {
  if (before === undefined) return `${path}: add ${display(after)}`;
  return after === undefined
    ? `${path}: remove ${display(before)}`
    : `${path}: ${display(before)} → ${display(after)}`;
}

function display(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

export const renameText = ({ file, name, id, before }: Rename): string =>
  `“${name}” may be “${before}” under another name (${file}); add \`id: ${id}\` to the file to rename it.`;

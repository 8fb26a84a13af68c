// Displays a simulation of an automation.
import { changeText, displayValue, objectText, type Effect } from './runs.ts';

interface Simulation {
  readonly effects: readonly Effect[];
  readonly logs: readonly { readonly level: string; readonly message: string }[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

export function simulationView({ effects, logs, error }: Simulation): string {
  return [
    ...(error ? [`It would fail: ${error.message}`] : []),
    ...(effects.length === 0 && !error ? ['It would change nothing.'] : []),
    ...effects.flatMap(effectLines),
    ...logs.map(({ level, message }) => `${level.padEnd(5)} ${message}`),
  ].join('\n');
}

/** Fields that the heading of a new object has, or that name the automation itself. */
const impliedFields = ['author', 'creator'];

function effectLines(effect: Effect): string[] {
  const { kind, action, values } = effect;
  const { issue, ...fields } = values ?? {};
  const isComment = kind === 'comment' && action === 'create';
  const on = isComment && issue ? ` on ${displayValue(issue.after)}` : '';
  const shown = Object.entries(isComment || !issue ? fields : { issue, ...fields });
  return [
    `${action} ${isComment ? 'comment' : objectText(effect)}${on}`,
    ...shown
      .filter(([field]) => action !== 'create' || !impliedFields.includes(field))
      .flatMap(([field, { before, after }]) =>
        isComment && field === 'body'
          ? textLines(after)
          : [`  ${field}: ${changeText(action, before, after)}`],
      ),
  ];
}

/** Returns a text with its lines, which a printable copy holds escaped. The indentation keeps them from imitating output. */
export function textLines(text: unknown, indent = '  '): string[] {
  return String(text)
    .split(String.raw`\n`)
    .map((line) => (indent + line).trimEnd());
}

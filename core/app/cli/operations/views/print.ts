// Prints the response of an operation.
import { printableCopy } from '../../../../platform/lib/text/printable.ts';
import { printResult, say, terminalWidth } from '../../lib/output.ts';
import { lowerFirst } from '../table/help.ts';
import { isTried, type Given } from '../input.ts';
import type { Operation } from '../table/operation.ts';
import { columns as preferred } from '../table/shortcuts.ts';
import { chosen, fieldsOf, objectLines, tableLines } from './show.ts';
import { views, type Shown } from './views.ts';

/** @returns the fields to show; null for all @throws CommandError */
export function chosenFields({ operation, options }: Given): string[] | null {
  return typeof options.fields === 'string' ? fieldsOf(options.fields, operation.fields ?? []) : null;
}

/** @param value items of a list, one object, or undefined for no content */
export async function print(given: Given, value: unknown): Promise<void> {
  const { operation, options } = given;
  if (isTried(options)) say('Dry run: nothing was changed.');
  if (value === undefined) return printDone(given);
  const items = itemsOf(operation, value);
  const names = chosenFields(given);
  const shown = names ? chosen(items ?? [value], names) : (items ?? [value]);
  const output = items ? shown : shown[0];
  if (options.json === true) return printResult(output, options, () => '');
  const text = await textOf(operation, { output, names }, { isTried: isTried(options) });
  printResult(output, options, () => text);
  // Public apps and routes have no secret.
  const hasSecret = operation.reveals === true && (value as { secret?: unknown }).secret !== null;
  if (hasSecret && !isTried(options)) say('The secret is shown only once. Store it now.');
}

/** Returns the items of a list; null for a single object. */
function itemsOf({ answer }: Operation, value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value;
  return answer === 'list' ? (value as { data: unknown[] }).data : null;
}

async function textOf(
  operation: Operation,
  { output, names }: { readonly output: unknown; readonly names: readonly string[] | null },
  shown: Shown,
): Promise<string> {
  const { id } = operation;
  if (Array.isArray(output) && output.length === 0) return 'Nothing found.';
  const view = names === null ? views[id] : undefined;
  if (view) return view(printableCopy(output) as never, shown);
  // Chosen fields are shown also where they have no value.
  if (!Array.isArray(output)) return objectLines(output, names === null).join('\n');
  const columns = names ?? preferred[id] ?? operation.columns ?? [];
  return tableLines(output, columns, names === null, terminalWidth()).join('\n');
}

/** The operation has no content to show. */
function printDone({ operation, args, options }: Given): void {
  const isDone = !isTried(options);
  const result = { done: isDone, operation: operation.id, ...args };
  const objects = Object.values(args).join(' ');
  printResult(
    result,
    options,
    () =>
      `${isDone ? 'Done' : 'Would succeed'}: ${lowerFirst(operation.summary)}${objects === '' ? '' : ` (${objects})`}.`,
  );
}

// Generates the types of events and of their data.
import type { SentEvent } from '../../core/kernel/http/openapi/document.ts';
import type { Library } from './library.ts';
import type { JsonSchema } from './type-text.ts';

export function writeEvents(library: Library, file: string, sent: readonly SentEvent[]): void {
  library.add(
    file,
    'EVENT_TYPES',
    `/**
     * Every event type of this version. A newer server may send others, so a receiver's \`switch\` needs a \`default\` that accepts
     * unknown types.
     */
    export const EVENT_TYPES = ${JSON.stringify(sent.map(({ type }) => type))} as const;`,
  );
  library.add(file, 'EventType', 'export type EventType = (typeof EVENT_TYPES)[number];');
  const spaces = [...new Set(sent.map(({ type }) => type.slice(0, type.indexOf('.'))))];
  library.add(
    file,
    'EventPattern',
    `/** An event type, all types of a resource such as \`issue.*\`, or \`*\` for all. */
    export type EventPattern = EventType | ${spaces.map((one) => `'${one}.*'`).join(' | ')} | '*';`,
  );
  library.add(
    file,
    'Changed',
    `/** An object after a change, with the previous values of the changed fields. */
    export type Changed<Shown> = Shown & { readonly previous: Readonly<Partial<Shown>> };`,
  );
  const members = sent.map(({ type, envelope }) => {
    const { data } = (envelope as JsonSchema).properties ?? {};
    if (!data) throw new Error(`The event ${type} has no data.`);
    return `'${type}': ${dataText(library, type, data)};`;
  });
  library.add(
    file,
    'EventData',
    `/** \`data\` of an event, by event type: the object as it was when the event happened. */
    export interface EventData {\n${members.join('\n')}\n}`,
  );
}

/** Returns the type of event data. A change has the type of its object, plus `previous`. */
function dataText(library: Library, type: string, data: JsonSchema): string {
  const name = data['x-name'] ?? '';
  const isChange = data.properties !== undefined && 'previous' in data.properties;
  if (isChange && name.endsWith('Changed')) return `Changed<${name.slice(0, -'Changed'.length)}>`;
  return library.typeIn(`${type.slice(0, type.indexOf('.'))}.ts`, data, true);
}

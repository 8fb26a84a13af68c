// Events as frames of a server-sent stream (WHATWG HTML § 9.2.6). JSON has no bare line ends, so that one data line holds it.
import { memberOfEvent, type EventType } from '../catalogue.ts';
import { eventJson, type EventEnvelope, type EventRow } from '../event.ts';

export interface Frame {
  readonly sequence: number;
  readonly type: EventType;
  /** Whose it is, where it is one member's own. */
  readonly memberId: string | null;
  readonly text: string;
  readonly event: EventRow;
}

/** Which frames a reader is sent. @param memberId whose it is; absent: any of the type */
export type WantsFrame = (type: EventType, memberId?: string | null) => boolean;

/** The id of a frame: where a reader stands, and in which history. */
function idOf(sequence: number, generation: string): string {
  return `id: ${sequence}:${generation}\n`;
}

export function frameOf(row: EventRow, generation: string): Frame {
  const { sequence, type } = row;
  return {
    sequence,
    type,
    memberId: memberOfEvent(row),
    text: `${idOf(sequence, generation)}${body(type, eventJson(row))}`,
    event: row,
  };
}

/** The frame of an event of which a reader is shown less. */
export function veiledFrame(shown: EventEnvelope, generation: string): string {
  return `${idOf(shown.sequence, generation)}${body(shown.type, JSON.stringify(shown))}`;
}

/** Without an id, so that a reader who comes back goes on after the last event of the log. */
export function sampleFrame(sample: EventEnvelope): string {
  return body(sample.type, JSON.stringify(sample));
}

/** Moves a reader's place without an event: an id without data is dispatched to nobody. */
export function placeFrame(sequence: number, generation: string): string {
  return `${idOf(sequence, generation)}\n`;
}

/**
 * The first lines: what is sent reaches readers behind proxies that wait for some. They tell the reader its place, so that one
 * who is cut off before its first event comes back to where it began, and not to a later now.
 */
export function openingFrame(sequence: number, generation: string): string {
  return `retry: 2000\n: events follow\n${placeFrame(sequence, generation)}`;
}
export const heartbeatFrame = ':\n\n';

function body(type: EventType, json: string): string {
  return `event: ${type}\ndata: ${json}\n\n`;
}

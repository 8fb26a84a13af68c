// Renders events as frames of a server-sent stream (WHATWG HTML § 9.2.6). JSON contains no bare line breaks, so one
// data line holds an event.
import { memberOfEvent, type EventType } from '../catalogue.ts';
import { eventJson, type EventEnvelope, type EventRow } from '../event.ts';

export interface StreamFrame {
  readonly sequence: number;
  readonly type: EventType;
  /** Member that the event belongs to; null if it belongs to no single member. */
  readonly memberId: string | null;
  readonly text: string;
  readonly event: EventRow;
}

/**
 * Returns true for frames that a reader receives. Without `memberId`: true if the reader may receive any
 * event of the type.
 */
export type FrameFilter = (type: EventType, memberId?: string | null) => boolean;

/** Returns the `id` line of a frame: the reader's position and its log generation. */
function idOf(sequence: number, generation: string): string {
  return `id: ${sequence}:${generation}\n`;
}

export function frameOf(row: EventRow, generation: string): StreamFrame {
  const { sequence, type } = row;
  return {
    sequence,
    type,
    memberId: memberOfEvent(row),
    text: `${idOf(sequence, generation)}${body(type, eventJson(row))}`,
    event: row,
  };
}

/** Returns the frame of an event with redacted fields. */
export function redactedFrame(event: EventEnvelope, generation: string): string {
  return `${idOf(event.sequence, generation)}${body(event.type, JSON.stringify(event))}`;
}

/** Returns a frame without id, so that a reconnecting reader continues after its last event of the log. */
export function sampleFrame(sample: EventEnvelope): string {
  return body(sample.type, JSON.stringify(sample));
}

/**
 * Returns a frame that moves a reader's position without an event: browsers dispatch nothing without data.
 */
export function positionFrame(sequence: number, generation: string): string {
  return `${idOf(sequence, generation)}\n`;
}

/**
 * Returns the first lines of a stream, which make buffering proxies forward the response. The start position
 * in them lets a reader that is cut off before its first event resume there and not at a later end of the
 * log.
 */
export function openingFrame(sequence: number, generation: string): string {
  return `retry: 2000\n: events follow\n${positionFrame(sequence, generation)}`;
}
export const heartbeatFrame = ':\n\n';

function body(type: EventType, json: string): string {
  return `event: ${type}\ndata: ${json}\n\n`;
}

// Errors for event log positions in the future.
import { invalidField, type ApiError } from '../errors/errors.ts';

/** @param end sequence of the last event */
export const sequenceToCome = (path: string, end: number): ApiError =>
  invalidField(path, 'too_big', {
    why: `The last event has the sequence ${end}.`,
    fix: `Give ${end} or less.`,
  });

export const timeToCome = (path: string, value: string): ApiError =>
  invalidField(path, 'too_big', { why: `${value} is in the future.`, fix: 'Give an earlier time.' });

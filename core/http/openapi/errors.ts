// The error envelope, and what each error looks like.
import { Type } from 'typebox';
import { errorCodes, fieldIssues, type ErrorCode } from '../../lib/errors.ts';
import { Closed, enumeration, named } from '../../lib/schema.ts';
import type { JsonObject } from './components.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

const Detail = named(
  'ErrorDetail',
  Closed(
    {
      path: Type.String({
        description: 'The field or parameter, such as `labels.0`; empty for the body itself.',
      }),
      issue: enumeration('FieldIssue', fieldIssues, 'What is wrong with it.'),
      fix: Type.Optional(Type.String({ description: 'What to do about it.' })),
      value: Type.Optional(Type.String({ description: 'What to give in its place.' })),
    },
    { description: 'What is wrong with one field.' },
  ),
);

export const ErrorShown = named(
  'Error',
  Closed(
    {
      error: Closed(
        {
          code: enumeration('ErrorCode', codes, 'What went wrong, for programs: it stays the same.'),
          message: Type.String({ description: 'What went wrong, for people: it may change.' }),
          details: Type.Array(Detail, { description: 'The fields at fault; empty where it is none.' }),
          requestId: Type.String({
            pattern: '^req_',
            description: 'Names the request; the same as `X-Request-Id`.',
          }),
        },
        { description: 'What went wrong.' },
      ),
    },
    { description: 'The answer to a request that was refused or failed.', 'x-error-codes': errorCodes },
  ),
);

/** What a code says beyond its text, where that is what callers read. */
const said: Readonly<Partial<Record<ErrorCode, { message: string; details?: readonly JsonObject[] }>>> = {
  insufficient_scope: { message: 'This needs the scope issues:write, which the token does not have.' },
  validation_failed: {
    message: 'priority: Use one of none, low, medium, high, urgent.',
    details: [
      { path: 'priority', issue: 'invalid_enum', fix: 'Use one of none, low, medium, high, urgent.' },
    ],
  },
  method_not_allowed: { message: 'Use one of GET, HEAD, POST, OPTIONS here.' },
};

/** A realistic envelope of each code, by code. */
export const errorExamples: JsonObject = Object.fromEntries(
  codes.map((code) => {
    const { message = errorCodes[code].text, details = [] } = said[code] ?? {};
    const requestId = 'req_01m7x7qf6c000dv06y916acqbt';
    return [
      code,
      { summary: errorCodes[code].text, value: { error: { code, message, details, requestId } } },
    ];
  }),
);

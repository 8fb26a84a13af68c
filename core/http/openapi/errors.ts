// Schema of the error envelope, and an example of each error.
import { Type } from 'typebox';
import { errorCodes, fieldIssues, type ErrorCode } from '../../lib/errors.ts';
import { Closed, enumeration, namedSchema } from '../../lib/schema.ts';
import type { JsonObject } from './components.ts';

const codes = Object.keys(errorCodes) as ErrorCode[];

const Detail = namedSchema(
  'ErrorDetail',
  Closed(
    {
      path: Type.String({
        description: 'Path of the field or parameter, such as `labels.0`; empty for the body itself.',
      }),
      issue: enumeration('FieldIssue', fieldIssues, 'Machine-readable reason.'),
      fix: Type.Optional(Type.String({ description: 'Instruction to correct the field.' })),
      value: Type.Optional(Type.String({ description: 'Suggested value.' })),
    },
    { description: 'Error in one field.' },
  ),
);

export const ErrorResponse = namedSchema(
  'Error',
  Closed(
    {
      error: Closed(
        {
          code: enumeration('ErrorCode', codes, 'Machine-readable code of the error; stable.'),
          message: Type.String({ description: 'Human-readable message; may change.' }),
          details: Type.Array(Detail, {
            description: 'Invalid fields; empty if the error is not about fields.',
          }),
          requestId: Type.String({
            pattern: '^req_',
            description: 'Id of the request; equal to `X-Request-Id`.',
          }),
        },
        { description: 'The error.' },
      ),
    },
    { description: 'Response to a rejected or failed request.', 'x-error-codes': errorCodes },
  ),
);

/** Example messages for codes whose default text is rarely what callers read. */
const said: Readonly<Partial<Record<ErrorCode, { message: string; details?: readonly JsonObject[] }>>> = {
  insufficient_scope: {
    message:
      'This operation needs the scope issues:write, which the token does not have. Use a token with the scope, or ask an admin to grant it.',
  },
  validation_failed: {
    message: 'priority: Use one of none, low, medium, high, urgent.',
    details: [
      { path: 'priority', issue: 'invalid_enum', fix: 'Use one of none, low, medium, high, urgent.' },
    ],
  },
  method_not_allowed: { message: 'Use one of GET, HEAD, POST, OPTIONS for this path.' },
};

/** Realistic error envelopes by code. */
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

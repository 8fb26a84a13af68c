// What a route of a plugin answers, made fit to be sent: nothing in it can pass for a page of ours or set anything in a browser.
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { RawAnswer } from '../../http/route.ts';

const check = Compile(
  Type.Object(
    {
      status: Type.Integer({ minimum: 200, maximum: 599 }),
      headers: Type.Optional(
        Type.Record(Type.String({ maxLength: 60 }), Type.String({ maxLength: 1_000 }), { maxProperties: 20 }),
      ),
      body: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
);

const types = ['text/plain', 'application/json'];
const headerName = /^(retry-after|x-[a-z0-9-]{1,50})$/;
/** What the door says itself. */
const ours = /^x-(request-id|content-type-options|frame-options|webhook-.*|accel-.*|sendfile.*)$/;
const headerValue = /^[\t\x20-\x7e]*$/;

/** @returns null for what is no answer */
export function answerOf(result: unknown): RawAnswer | null {
  if (result === null) return { status: 204, contentType: 'text/plain; charset=utf-8', body: '' };
  if (!check.Check(result)) return null;
  const { status, headers = {}, body = '' } = result;
  const kept: Record<string, string> = {};
  let type = 'text/plain';
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    if (!headerValue.test(value)) return null;
    if (name === 'content-type') {
      const found = types.find((one) => value.toLowerCase().split(';')[0]?.trim() === one);
      if (found === undefined) return null;
      type = found;
    } else if (headerName.test(name) && !ours.test(name)) kept[name] = value;
    else return null;
  }
  const contentType = type === 'text/plain' ? 'text/plain; charset=utf-8' : type;
  return {
    status,
    contentType,
    body: status === 204 || status === 205 || status === 304 ? '' : body,
    headers: kept,
  };
}

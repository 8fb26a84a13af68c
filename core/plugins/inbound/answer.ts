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
  if (result === null) return { status: 204, contentType: typed('text/plain'), body: '' };
  if (!check.Check(result)) return null;
  const { status, headers = {}, body = '' } = result;
  const kept: Record<string, string> = {};
  let contentType = typed('text/plain');
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    if (!isTaken(name, value)) return null;
    if (name === 'content-type') contentType = typed(plainType(value));
    else kept[name] = value;
  }
  return { status, contentType, body: bodiless.has(status) ? '' : body, headers: kept };
}

/** Statuses whose answers have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

const plainType = (value: string): string => value.toLowerCase().split(';')[0]?.trim() ?? '';
const typed = (type: string): string => (type === 'text/plain' ? 'text/plain; charset=utf-8' : type);

function isTaken(name: string, value: string): boolean {
  if (!headerValue.test(value)) return false;
  if (name === 'content-type') return types.includes(plainType(value));
  return headerName.test(name) && !ours.test(name);
}

// The consent page: a person decides what an app asked for in their browser. Each time they are asked anew.
import { Type } from 'typebox';
import { readForm } from '../../html/form.ts';
import { defineRoute, type Arrival, type RawAnswer, type Route } from '../../http/route.ts';
import { Closed } from '../../lib/schema.ts';
import type { Asking } from '../engine/engine.ts';
import { paths } from '../paths.ts';
import { denied, noneOffered, over, toSignIn, withoutPage } from './answers.ts';
import { askedOf, givenBy, makeGrant, requireFormOf, type Asked, type AskingOptions } from './decide.ts';
import { consentPage } from './page.ts';

export function consentRoutes(options: AskingOptions): Route[] {
  const { sessions, services, engine } = options;
  const page = (asked: Asked, uid: string, problem: string | null): RawAnswer =>
    'without' in asked
      ? withoutPage(asked.without)
      : consentPage(asked.view, {
          action: `${paths.consent}/${uid}`,
          hidden: { form_token: asked.view.who.formToken },
          problem,
        });

  const show = async (arrival: Arrival, uid: string): Promise<RawAnswer> => {
    const asking = await (await engine()).asking(arrival, uid);
    if (!asking) return over;
    if (asking.scopes.length === 0) return (await engine()).settle(arrival, uid, noneOffered);
    const who = await sessions.find(arrival.headers);
    if (!who) return toSignIn(arrival);
    return page(await askedOf(options, asking, who, null), uid, null);
  };

  const decide = async (arrival: Arrival, uid: string): Promise<RawAnswer> => {
    const form = await readForm(arrival, services.baseUrl);
    const who = await sessions.find(arrival.headers);
    if (!who) return toSignIn(arrival);
    requireFormOf(who, form);
    const asking: Asking | null = await (await engine()).asking(arrival, uid);
    if (!asking) return over;
    const decision = form.get('decision');
    if (decision === 'deny') return (await engine()).settle(arrival, uid, denied);
    const asked = await askedOf(options, asking, who, form.get('workspace'));
    if (decision !== 'allow' || 'without' in asked) return page(asked, uid, null);
    const given = givenBy(asked.view, form);
    if (given.problem !== null) return page(asked, uid, given.problem);
    const made = await makeGrant(options, asked, given);
    return made ? (await engine()).settle(arrival, uid, made) : over;
  };

  const params = Closed({ uid: Type.String({ maxLength: 100 }) });
  const facts = {
    path: `${paths.consent}/{uid}`,
    ...({ scope: null, limit: 'read' } as const),
    ...{ params, responses: { 200: Type.String() }, contentType: 'text/html' },
  };
  return [
    defineRoute({
      ...facts,
      method: 'GET',
      name: 'oauth.ask',
      summary: 'What an app asks a person for',
      inbound: ({ params: { uid } }, arrival) => show(arrival, uid),
    }),
    defineRoute({
      ...facts,
      method: 'POST',
      name: 'oauth.decide',
      summary: 'What a person lets an app do',
      inbound: ({ params: { uid } }, arrival) => decide(arrival, uid),
    }),
  ];
}

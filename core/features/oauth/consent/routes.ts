// Routes of the consent page, which every authorization request shows, even after an earlier consent.
import type { RawRequest, RawAnswer, Route } from '../../../kernel/http/route.ts';
import { leadToSignIn, pageRoute, readSignedForm } from '../../sign-in/index.ts';
import { paths } from '../metadata.ts';
import {
  denied,
  noneOffered,
  over,
  withoutPage,
  consentPromptOf,
  grantedBy,
  makeGrant,
  type ConsentPrompt,
  type ConsentParts,
} from './decide.ts';
import { consentPage } from './page.ts';

export function consentRoutes(parts: ConsentParts): Route[] {
  const { sessions, services, engine } = parts;
  const { baseUrl } = services;
  const pathOf = (uid: string): string => `${paths.consent}/${uid}`;
  const page = (consentPrompt: ConsentPrompt, uid: string, wrong: string | null): RawAnswer => {
    if ('without' in consentPrompt) return withoutPage(consentPrompt.without);
    const { formToken } = consentPrompt.view.who;
    return consentPage(consentPrompt.view, { action: pathOf(uid), hidden: { form_token: formToken }, wrong });
  };

  const show = async (request: RawRequest, uid: string): Promise<RawAnswer> => {
    const server = await engine();
    const asking = await server.asking(request, uid);
    if (!asking) return over;
    if (asking.scopes.length === 0) return server.settle(request, uid, noneOffered);
    const who = await sessions.find(request.headers);
    if (!who) return leadToSignIn(baseUrl, pathOf(uid));
    return page(await consentPromptOf(parts, asking, who, null, request.peer), uid, null);
  };

  const decide = async (request: RawRequest, uid: string): Promise<RawAnswer> => {
    const who = await sessions.find(request.headers);
    if (!who) return leadToSignIn(baseUrl, pathOf(uid));
    const form = await readSignedForm(request, baseUrl, who);
    const server = await engine();
    const asking = await server.asking(request, uid);
    if (!asking) return over;
    const decision = form.get('decision');
    if (decision === 'deny') return server.settle(request, uid, denied);
    const consentPrompt = await consentPromptOf(parts, asking, who, form.get('workspace'), request.peer);
    if (decision !== 'allow' || 'without' in consentPrompt) return page(consentPrompt, uid, null);
    const granted = grantedBy(consentPrompt.view, form);
    if (granted.wrong !== null) return page(consentPrompt, uid, granted.wrong);
    const grantDecision = await makeGrant(parts, consentPrompt, granted);
    return grantDecision ? server.settle(request, uid, grantDecision) : over;
  };

  const path = pathOf('{token}');
  return [
    pageRoute({ method: 'GET', path, name: 'oauth.ask', summary: 'Show the consent page' }, show),
    pageRoute(
      { method: 'POST', path, name: 'oauth.decide', summary: 'Decide on an authorization request' },
      decide,
    ),
  ];
}

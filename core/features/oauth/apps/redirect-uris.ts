// Rules for redirect URIs. An attacker who controls a redirect URI receives authorization codes. URIs are
// compared as text (RFC 9700 §2.1), so only the normal form, which all parsers read alike, can be registered.
import type { Wrong } from '../../../platform/lib/errors/errors.ts';

export const redirectUrisMax = 10;
const redirectUriLengthMax = 1_000;

/** Hosts of RFC 8252 §7.3 and §8.3. */
const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** Scheme of a private-use URI: a reversed domain name of the owner, so with a dot (RFC 8252 §7.1). */
const privateUse = /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+:$/;
/**
 * Exceptions for editors that register such a URI among others: one rejected URI would fail the whole
 * registration.
 */
const editorSchemes: ReadonlySet<string> = new Set(['cursor:', 'vscode:', 'vscode-insiders:']);
/**
 * Parameters of the authorization response (RFC 6749 §4.1.2, RFC 9207), which the query of a registered URI
 * could forge.
 */
const ofTheAnswer = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response'];

export function faultOfRedirectUri(text: string): Wrong | null {
  return faultOfText(text) ?? faultOfParsed(text, URL.parse(text));
}

/** Returns the host or the private-use scheme, to show to people. */
export function redirectHostOf(uri: string): string {
  const url = new URL(uri);
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol.slice(0, -1);
}

function faultOfText(text: string): Wrong | null {
  if (text.length > redirectUriLengthMax)
    return {
      why: `The URI is longer than ${redirectUriLengthMax} characters.`,
      fix: 'Use `state` for variable data.',
    };
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\"<>^`{|}]/.test(text))
    return {
      why: 'The URI contains characters that a URI cannot have.',
      fix: 'Use percent-encoding for these characters.',
    };
  if (text.includes('*'))
    return { why: 'Wildcards are not supported.', fix: 'Give each redirect URI in full.' };
  if (text.includes('#'))
    return {
      why: 'A redirect URI cannot have a fragment (RFC 6749 §3.1.2).',
      fix: 'Remove # and everything after it.',
    };
  return null;
}

function faultOfParsed(text: string, url: URL | null): Wrong | null {
  if (!url)
    return { why: 'The URI is not absolute.', fix: 'Give a URI such as https://app.example/callback.' };
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?]*@/.test(text))
    return { why: 'The URI contains a user name.', fix: 'Remove everything before the @.' };
  const scheme = faultOfScheme(text, url);
  if (scheme) return scheme;
  // Without this rule, different texts could mean the same URI, or parsers could disagree about one text.
  if (url.href !== text && url.href !== `${text}/`)
    return { why: 'The URI is not in normal form.', fix: `Use the form ${url.href}.` };
  const taken = ofTheAnswer.find((name) => url.searchParams.has(name));
  if (taken !== undefined)
    return {
      why: `The query contains \`${taken}\`, which the authorization response sets.`,
      fix: 'Use another parameter name.',
    };
  return null;
}

function faultOfScheme(text: string, url: URL): Wrong | null {
  const { protocol, hostname } = url;
  if (protocol === 'https:') return faultOfHost(hostname);
  if (protocol === 'http:')
    return loopbackHosts.has(hostname)
      ? null
      : {
          why: 'Over http, the code could be intercepted.',
          fix: 'Use https; http is allowed only for 127.0.0.1, [::1] and localhost.',
        };
  if (!privateUse.test(protocol) && !editorSchemes.has(protocol))
    return {
      why: `The scheme ${protocol.slice(0, -1)} is not allowed.`,
      fix: 'Use https, or a private-use scheme with a dot, such as com.example.app:/callback (RFC 8252 §7.1).',
    };
  return text.startsWith(`${protocol}/`)
    ? null
    : { why: 'The URI has no path after its scheme.', fix: `Add a path, such as ${protocol}/callback.` };
}

function faultOfHost(hostname: string): Wrong | null {
  if (loopbackHosts.has(hostname))
    return { why: 'A loopback host cannot have a TLS certificate.', fix: 'Use http for this host.' };
  if (hostname.endsWith('.'))
    return { why: 'The host ends with a dot.', fix: 'Remove the last dot of the host.' };
  return null;
}

// How a page looks: one layout, with no script and nothing from elsewhere. Only words of our own are put in.
import type { RawAnswer } from '../http/route.ts';

const csp =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: #0b62c4 }
@media (prefers-color-scheme: dark) { :root { --link: #7ab8ff } }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
nav { font-size: .9rem; border-bottom: 1px solid var(--line); padding-bottom: .5rem }
a { color: var(--link) } h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 2.5rem }
code, pre { font: .875em/1.5 ui-monospace, monospace } code { background: var(--soft); padding: .1em .3em; border-radius: 3px }
pre { background: var(--soft); padding: 1rem; overflow-x: auto; border-radius: 6px } pre code { background: none; padding: 0 }
table { border-collapse: collapse; display: block; overflow-x: auto } th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top }`;

/** @param content HTML of our own; text from elsewhere only where its pattern allows no markup */
export function page(title: string, content: string, nav = ''): RawAnswer {
  return {
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': csp },
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><link rel="icon" href="data:,"><style>${style}</style>
${nav}<main>${content}</main></html>`,
  };
}

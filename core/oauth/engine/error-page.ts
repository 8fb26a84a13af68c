// What a person is shown where an app made a mistake, and where sending them back to it would not be safe.
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { html } from '../../html/html.ts';
import { page } from '../../html/page.ts';

export function showError(ctx: KoaContextWithOIDC, { error, error_description: why }: ErrorOut): void {
  const { body, contentType, headers } = page(
    'This app cannot be let in',
    html`<div class="card">
      <h1>This app cannot be let in</h1>
      <p>
        The app that sent you here asked for access in a way that this server does not take. Nothing was given
        to it. Go back to the app and try again; if that does not help, tell its makers this:
      </p>
      <p class="notice problem"><code>${error}</code> ${why}</p>
    </div>`,
  );
  for (const [name, value] of Object.entries(headers ?? {})) ctx.set(name, value as string);
  ctx.set('content-type', contentType);
  ctx.body = body as string;
}

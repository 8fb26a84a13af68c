// Error page for authorization requests that cannot be returned to the client safely.
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { html } from '../../html/html.ts';
import { page } from '../../html/page.ts';

export function showError(ctx: KoaContextWithOIDC, { error, error_description: why }: ErrorOut): void {
  const { body, contentType, headers } = page(
    'Authorization failed',
    html`<div class="card">
      <h1>Authorization failed</h1>
      <p>
        The app that sent you here made an invalid request. It got no access. Go back to the app and try
        again. If that does not help, report this error to its developer:
      </p>
      <p class="notice problem"><code>${error}</code> ${why}</p>
    </div>`,
  );
  for (const [name, value] of Object.entries(headers ?? {})) ctx.set(name, value as string);
  ctx.set('content-type', contentType);
  ctx.body = body as string;
}

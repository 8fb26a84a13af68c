// How tests walk through the pages of a server: as a person with a browser, whose complaints are kept, and as axe, which looks for what
// keeps people out. Runs under Node; tests under Bun start such a walk by `runInNode`.
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What the browser said against a page: a blocked script or style, a failed request, an exception. */
  readonly complaints: string[];
  /**
   * What axe holds against the page as it is now: `rule: what it hits`. It is evaluated past the policy of the page, which stays on, and
   * needs a browser in which scripts run.
   */
  violations(): Promise<string[]>;
  /** Presses a button and waits for the page that follows. */
  press(name: string | RegExp): Promise<void>;
  close(): Promise<void>;
}

/** A person with a browser of their own: no other visit knows its cookies. @param isScripted false switches JavaScript off */
export async function visitAs(browser: Browser, { isScripted = true } = {}): Promise<Visit> {
  const context = await browser.newContext({
    javaScriptEnabled: isScripted,
    viewport: { width: 1024, height: 900 },
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (said) => {
    if (said.type() === 'error' || said.type() === 'warning') complaints.push(said.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
  return {
    context,
    page,
    complaints,
    violations: () => violationsOf(context, page),
    async press(name) {
      const next = page.waitForEvent('load');
      await page.getByRole('button', { name }).first().click();
      await next;
    },
    close: () => context.close(),
  };
}

/** Rules of WCAG 2.2 up to level AA, and what axe holds for good practice. */
const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`;

/** Evaluated over the protocol of the inspector: a page that lets no script in refuses those that Playwright would add. */
async function violationsOf(context: BrowserContext, page: Page): Promise<string[]> {
  const inspector = await context.newCDPSession(page);
  try {
    const { result, exceptionDetails } = await inspector.send('Runtime.evaluate', {
      expression: `${axe.source};\n${run}`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(`axe failed: ${exceptionDetails.exception?.description}`);
    return result.value as string[];
  } finally {
    await inspector.detach();
  }
}

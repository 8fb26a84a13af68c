// Opens the web app in a browser as a signed-in person. Runs under Node.
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from '../browser/browser.ts';
import { violationsOf } from '../browser/people.ts';

export interface Target {
  readonly url: string;
  /** Cookie header of the session. */
  readonly cookie: string;
  readonly key: string;
  readonly ids: Readonly<Record<string, string>>;
  /** Id of the signed-in member. */
  readonly member: string;
  readonly password: string;
  /** URL of the program that controls the server. */
  readonly control: string;
  /** URL of the metrics of the server. */
  readonly metrics: string;
}

/** Target of this program, its only argument. */
export const target = JSON.parse(process.argv[2]!) as Target;

const { ids } = target;
/** Every screen, with objects of the scene. */
export const screens: readonly string[] = [
  '/my-issues',
  '/inbox',
  '/triage',
  '/issues',
  '/issues?group=priority',
  '/issues?group=priority&layout=board',
  '/issues/ENG-1',
  '/issues?peek=ENG-2',
  `/views/${ids.view}`,
  '/boards',
  `/boards/${ids.board}`,
  '/cycles',
  `/cycles/${ids.cycle}`,
  '/projects',
  `/projects/${ids.project}`,
  '/releases',
  `/releases/${ids.release}`,
  '/sla',
  '/automations',
  '/automations/new',
  `/automations/${ids.automation}`,
  `/automations/${ids.automation}?tab=health`,
  '/proposals',
  `/proposals/${ids.proposal}`,
  `/proposals/${ids.runProposal}`,
  '/webhooks',
  `/webhooks/${ids.webhook}`,
  `/deliveries/${ids.delivery}`,
  '/api-keys',
  '/audit-log',
  '/welcome',
];

/** Screen of a phone. */
export const phone: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  hasTouch: true,
  isMobile: true,
};

export interface Tab {
  readonly page: Page;
  /** Errors that the browser reported: console, policy, failed requests. */
  readonly complaints: string[];
  /**
   * @param rule the only rule of axe to check; by default all
   * @param within selector of the part of the page to check; by default all of it
   */
  violations(rule?: string, within?: string): Promise<string[]>;
  /** Opens another tab of the same browser. */
  another(path: string): Promise<Tab>;
  close(): Promise<void>;
}

export interface Driver {
  readonly browser: Browser;
  open(path: string, options?: BrowserContextOptions & { readonly init?: string }): Promise<Tab>;
}

/** After this time something never happens. A sandbox of low priority is slow on a machine whose cores are busy. */
const limitMs = 60_000;

export async function openDriver(): Promise<Driver> {
  const browser = await openBrowser();
  return {
    browser,
    async open(path, { init, ...options } = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      context.setDefaultTimeout(limitMs);
      if (init !== undefined) await context.addInitScript(init);
      const [name = '', value = ''] = target.cookie.split('=');
      const url = target.url.replace('http:', 'https:');
      await context.addCookies([{ name, value, url, secure: true, httpOnly: true }]);
      const complaints: string[] = [];
      const tabAt = async (at: string): Promise<Tab> => {
        const page = await context.newPage();
        page.on('console', (said) => {
          if (said.type() === 'error' || said.type() === 'warning')
            complaints.push(`${page.url()}: ${said.text()} ${said.location().url}`);
        });
        page.on('pageerror', (error) => complaints.push(`${page.url()}: ${String(error)}`));
        await page.goto(target.url + at);
        return {
          page,
          complaints,
          violations: (rule, within) => violationsOf(context, page, rule, within),
          another: tabAt,
          close: () => context.close(),
        };
      };
      return tabAt(path);
    },
  };
}

/** Calls the API with the key of the workspace. */
export async function api<T = { id: string; identifier: string }>(
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(`${target.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** Waits until the server has what the page shows already. @throws Error if it never does */
export async function until(isTrue: () => Promise<boolean>, what: string): Promise<true> {
  const end = Date.now() + limitMs;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error(`Never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
}

export const say = (result: object): void => console.log(JSON.stringify(result));

// Uses the screens of developers: API keys, webhooks and proposals. Prints what the API has afterwards.
import type { Page } from 'playwright-core';
import { isSettled } from '../browser/people.ts';
import { api, openDriver, say, target } from './browser.ts';

const driver = await openDriver();
const results: Record<string, unknown> = {};
const tab = await driver.open('/welcome');
const { page } = tab;

async function go(path: string): Promise<void> {
  await page.goto(target.url + path);
  await isSettled(page);
}

const dialogNamed = (name: string) => page.getByRole('dialog', { name });
const press = (name: string, within: Pick<Page, 'getByRole'> = page): Promise<void> =>
  within.getByRole('button', { name, exact: true }).first().click();

/** Enters the password where the app leads to, and waits for the page that the person came from. */
async function confirmSignIn(): Promise<void> {
  await page.waitForURL(/\/sign-in\/again/);
  await page.getByLabel('Password').fill(target.password);
  await press('Continue');
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  await isSettled(page);
}

const stored = (): Promise<string[]> => page.evaluate(() => Object.keys(sessionStorage));
const age = async (): Promise<void> => void (await fetch(`${target.control}/age`));

interface Named {
  readonly data: readonly {
    readonly name: string;
    readonly expiresAt: string | null;
    readonly scopes: string[];
  }[];
}

async function createKey(): Promise<void> {
  await go('/api-keys');
  await press('New API key');
  const form = dialogNamed('New API key');
  await form.getByLabel('Name').fill('From the form');
  await form.getByLabel(/^Expiry date/).fill('2099-01-01');
  const issues = form.getByRole('combobox', { name: 'issues', exact: true });
  await issues.selectOption({ label: 'Read issues, with all their fields.' });
  await age();
  await press('New API key', form);
  await confirmSignIn();
  results.keyForm = await form.getByLabel('Name').inputValue();
  results.stored = await stored();
  await press('New API key', form);
  const secret = dialogNamed('The key was created');
  await secret.waitFor();
  await press('Done', secret);
  const { data } = await api<Named>('GET', '/api-keys');
  const { scopes, expiresAt } = data.find(({ name }) => name === 'From the form')!;
  results.key = { scopes, expiresAt };
  await press('New API key');
  results.nextKeyForm = await form.getByLabel('Name').inputValue();
}

async function createWebhook(): Promise<void> {
  await go('/webhooks');
  await press('New webhook');
  const form = dialogNamed('New webhook');
  await form.getByLabel('Address').fill(`${target.control}/hooks?token=secret`);
  await form.getByLabel('Description').fill('Described in the form');
  await age();
  await press('New webhook', form);
  await page.waitForURL(/\/sign-in\/again/);
  results.storedSecret = (await page.evaluate(() => JSON.stringify(sessionStorage))).includes('secret');
  await confirmSignIn();
  results.webhookForm = [
    await form.getByLabel('Address').inputValue(),
    await form.getByLabel('Description').inputValue(),
  ];
}

interface Decided {
  readonly status: string;
  readonly effects: readonly { readonly class: string; readonly decision: string }[];
}

async function approvePart(): Promise<void> {
  await go(`/proposals/${target.ids.runProposal}`);
  const evidence = page.getByRole('complementary', { name: 'Evidence' });
  const facts = ['com.test.proposing 1.0.0', 'issue.created', 'everybody is affected: Login', 'issues.get'];
  results.evidence = await Promise.all(facts.map((fact) => evidence.getByText(fact).first().isVisible()));
  await evidence.getByText('Arguments').click();
  await evidence.getByText(/^issues\.get\("iss_/).waitFor();
  await page.getByRole('checkbox').first().uncheck();
  await age();
  await press('Approve 1 of 2');
  await confirmSignIn();
  await press('Approve 1 of 2');
  await page.getByText('Partly approved', { exact: true }).first().waitFor();
  const { effects } = await api<Decided>('GET', `/proposals/${target.ids.runProposal}`);
  results.decisions = effects.map(({ class: kind, decision }) => `${kind} ${decision}`);
}

const shown = (): string | null => new URL(page.url()).searchParams.get('delivery');
const panel = page.getByRole('complementary', { name: 'Delivery' });

async function browseDeliveries(): Promise<void> {
  const path = `/webhooks/${target.ids.webhook}`;
  for (const name of ['first of two', 'second of two']) await api('POST', '/labels', { name });
  await go(path);
  const links = page.getByRole('table', { name: 'Deliveries' }).getByRole('link');
  await links.nth(2).waitFor();
  await links.first().click();
  await panel.getByText(/^Attempt 1/).waitFor();
  const first = shown();
  await page.keyboard.press('ArrowDown');
  await page.waitForURL((url) => url.searchParams.get('delivery') !== first);
  const second = shown();
  results.focused = await page.evaluate(() => document.activeElement?.getAttribute('aria-current'));
  await page.keyboard.press('ArrowUp');
  await page.waitForURL((url) => url.searchParams.get('delivery') === first);
  await go(`${path}?delivery=${second}`);
  await panel.getByRole('heading').first().waitFor();
  results.panelProblems = await tab.violations();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await page.setViewportSize({ width: 900, height: 800 });
  await links.first().click();
  await page.waitForURL(`${target.url}/deliveries/${first}`);
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function changeWebhook(): Promise<void> {
  await go(`/webhooks/${target.ids.webhook}`);
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByLabel('Address').fill(`${target.control}/moved`);
  await page.getByLabel('Description').fill('Moved');
  results.settingsProblems = await tab.violations();
  await age();
  await press('Save');
  await confirmSignIn();
  results.settingsForm = await page.getByLabel('Description').inputValue();
  await press('Save');
  await page.getByText('Saved.').waitFor();
  const { url, description } = await api<{ url: string; description: string }>(
    'GET',
    `/webhooks/${target.ids.webhook}`,
  );
  results.moved = [url.replace(target.control, ''), description];
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  await page.getByRole('button', { name: 'Send sample' }).waitFor();
  results.tab = new URL(page.url()).search;
}

interface Stored {
  readonly events: readonly string[];
  readonly filter: object;
}

/** Enters a filter that the events do not have, then chooses events that have it, and adds a condition. */
async function filterEvents(): Promise<void> {
  const { keyboard } = page;
  const path = `/webhooks/${target.ids.webhook}`;
  const group = page.getByRole('group', { name: 'Only events that match' });
  await go(`${path}?tab=events`);
  await group.getByText('Filter as JSON').click();
  await group.getByRole('textbox').fill('{"priority": "high"');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByRole('group', { description: /must be a JSON object/ }).waitFor();
  await group.getByRole('textbox').fill('{"priority": "high", "not": {"title": {"contains": "test"}}}');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  const rejected = page.getByRole('group', { description: /label.created events have no field priority/ });
  await rejected.waitFor();
  results.rejected = await rejected.evaluate((element) => element === document.activeElement);
  results.rejectedProblems = await tab.violations();

  await page.getByRole('combobox', { name: 'Events to send' }).press('Enter');
  for (const events of ['label.*', 'issue.*']) {
    await keyboard.type(events);
    await page
      .getByRole('option', { name: events, exact: true })
      .and(page.locator('[data-highlighted]'))
      .waitFor();
    await keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Search' }).fill('');
  }
  await keyboard.press('Escape');
  await group.getByRole('button', { name: 'Priority is High', exact: true }).waitFor();
  results.jsonFields = await group.getByRole('textbox').count();
  await group.getByRole('button', { name: '+ Filter' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Team' }).press('Enter');
  const chip = dialogNamed('Team');
  await chip.getByRole('combobox', { name: 'Team' }).fill('eng');
  await keyboard.press('Enter');
  await chip.getByRole('button', { name: 'Apply' }).press('Enter');
  await group.getByRole('button', { name: 'Team is ENG', exact: true }).waitFor();
  results.chipProblems = await tab.violations();
  await page.emulateMedia({ colorScheme: 'dark' });
  results.chipProblemsDark = await tab.violations('color-contrast');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await page.getByText('Saved.').waitFor();
  const { events, filter } = await api<Stored>('GET', path);
  results.filtered = [events, filter];
}

await createKey();
await createWebhook();
await approvePart();
await browseDeliveries();
await changeWebhook();
await filterEvents();
const complaints = tab.complaints.filter((one) => !/status of 4(01|03|22)/.test(one));
await driver.browser.close();
say({ ...results, complaints });

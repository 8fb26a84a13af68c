// Installs of plugins, and automations, which the API identifies like them.
import { ApiCallError, type Call } from '../../../../sdk/client/index.ts';
import { findAll, theOne } from '../lib/lookup.ts';
import { readAll } from '../lib/pages.ts';
import { explained } from './names.ts';

const installId = /^(plg|atm)_[0-9a-hjkmnp-tv-z]{26}$/;

/** Ids that the API takes for plugins: of installs, and of manifests. */
const pluginId = /^[a-z][a-z0-9_.-]{0,99}$/;

/** Returns true for a text that can only be the name of an automation. A URL drops the segments `.` and `..`. */
export const isRuleName = (given: string): boolean => !pluginId.test(given) && !/^\.{0,2}$/.test(given);

interface Rule {
  readonly id: string;
  readonly name: string;
}

const namesOf = ({ name }: Rule): string[] => [name];
const readRules = (call: Call): Promise<Rule[]> => readAll<Rule>(call, '/automations');

/** A key without the scope of automations still learns that there is no such plugin. */
async function rulesNamed(call: Call, given: string): Promise<Rule[]> {
  return findAll(given, await readRules(call).catch(() => []), namesOf);
}

/** Returns the id of the automation with a name; without one the name, for which the server has no plugin. */
export async function ruleIdOf(call: Call, given: string): Promise<string> {
  const found = await rulesNamed(call, given);
  return found.length === 0 ? given : theOne('automation', 'automations', given, found, namesOf).id;
}

/**
 * Returns the id of an install, given by it, by the id of its plugin, or by the name of an automation.
 * @throws ApiCallError not_found
 */
export async function installIdOf(call: Call, given: string): Promise<string> {
  if (installId.test(given)) return given;
  if (isRuleName(given)) return theOne('automation', 'automations', given, await readRules(call), namesOf).id;
  try {
    const read = call<{ readonly id: string }>('GET', `/plugins/${encodeURIComponent(given)}`);
    return (await explained(call, 'plugins.get', { id: given }, read)).id;
  } catch (error) {
    if (!(error instanceof ApiCallError) || error.status !== 404) throw error;
    const [only, ...others] = await rulesNamed(call, given);
    if (!only || others.length > 0) throw error;
    return only.id;
  }
}
